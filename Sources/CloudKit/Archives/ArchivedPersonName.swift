import Foundation

/// A person's name in an archive. Apple's archives store the parts of `NSPersonNameComponents` in a nested
/// object. Foundation on Linux stores the parts directly and can't read Apple's archives.
final class ArchivedPersonName: NSObject, NSSecureCoding, Sendable {
    private static let classNames = ["NSPersonNameComponents", "_NSPersonNameComponentsData"]

    private let components: PersonNameComponents

    /// Reads the name under `key`, or returns nil if it doesn't exist.
    static func read(_ coder: NSCoder, forKey key: String) -> PersonNameComponents? {
        // Only for this unarchiver, because the app may read other archives of names.
        let unarchiver = coder as? NSKeyedUnarchiver
        for name in classNames { unarchiver?.setClass(ArchivedPersonName.self, forClassName: name) }
        defer { for name in classNames { unarchiver?.setClass(nil, forClassName: name) } }
        return coder.object(ArchivedPersonName.self, forKey: key)?.components
    }

    static var supportsSecureCoding: Bool { true }

    func encode(with coder: NSCoder) {
        (components as NSPersonNameComponents).encode(with: coder)
    }

    init?(coder: NSCoder) {
        if let parts = coder.object(ArchivedPersonName.self, forKey: "NS.nameComponentsPrivate") {
            components = parts.components
            return
        }
        var components = PersonNameComponents()
        components.namePrefix = coder.string(forKey: "NS.namePrefix")
        components.givenName = coder.string(forKey: "NS.givenName")
        components.middleName = coder.string(forKey: "NS.middleName")
        components.familyName = coder.string(forKey: "NS.familyName")
        components.nameSuffix = coder.string(forKey: "NS.nameSuffix")
        components.nickname = coder.string(forKey: "NS.nickname")
        self.components = components
    }
}
