internal import CloudWire
public import Foundation
internal import System

/// The content of a subscription's notifications. A notification without visible content still wakes the app.
open class CKNotificationInfo: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable because all mutable state is behind a lock. A subclass must restate it.

    private let state: Lock<WireNotificationInfo>

    /// Makes an info without content.
    public override init() {
        state = Lock(WireNotificationInfo())
    }

    init(_ wire: WireNotificationInfo) {
        state = Lock(wire)
    }

    var wire: WireNotificationInfo { state.withLock { $0 } }

    /// Makes an info with these contents.
    public convenience init(
        alertBody: String? = nil,
        alertLocalizationKey: String? = nil,
        alertLocalizationArgs: [CKRecord.FieldKey]? = nil,
        title: String? = nil,
        titleLocalizationKey: String? = nil,
        titleLocalizationArgs: [CKRecord.FieldKey]? = nil,
        subtitle: String? = nil,
        subtitleLocalizationKey: String? = nil,
        subtitleLocalizationArgs: [CKRecord.FieldKey]? = nil,
        alertActionLocalizationKey: String? = nil,
        alertLaunchImage: String? = nil,
        soundName: String? = nil,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        shouldBadge: Bool = false,
        shouldSendContentAvailable: Bool = false,
        shouldSendMutableContent: Bool = false,
        category: String? = nil,
        collapseIDKey: String? = nil
    ) {
        self.init()
        self.alertBody = alertBody
        self.alertLocalizationKey = alertLocalizationKey
        self.alertLocalizationArgs = alertLocalizationArgs
        self.title = title
        self.titleLocalizationKey = titleLocalizationKey
        self.titleLocalizationArgs = titleLocalizationArgs
        self.subtitle = subtitle
        self.subtitleLocalizationKey = subtitleLocalizationKey
        self.subtitleLocalizationArgs = subtitleLocalizationArgs
        self.alertActionLocalizationKey = alertActionLocalizationKey
        self.alertLaunchImage = alertLaunchImage
        self.soundName = soundName
        self.desiredKeys = desiredKeys
        self.shouldBadge = shouldBadge
        self.shouldSendContentAvailable = shouldSendContentAvailable
        self.shouldSendMutableContent = shouldSendMutableContent
        self.category = category
        self.collapseIDKey = collapseIDKey
    }

    /// The alert's text.
    public var alertBody: String? {
        get { state.withLock { $0.alertBody } }
        set { state.withLock { $0.alertBody = newValue } }
    }

    /// The key of the alert's text in the app's strings.
    public var alertLocalizationKey: String? {
        get { state.withLock { $0.alertLocalizationKey } }
        set { state.withLock { $0.alertLocalizationKey = newValue } }
    }

    /// The fields that are the arguments of that text.
    public var alertLocalizationArgs: [CKRecord.FieldKey]? {
        get { state.withLock { $0.alertLocalizationArgs } }
        set { state.withLock { $0.alertLocalizationArgs = newValue } }
    }

    /// The alert's title.
    public var title: String? {
        get { state.withLock { $0.title } }
        set { state.withLock { $0.title = newValue } }
    }

    /// The key of the title in the app's strings.
    public var titleLocalizationKey: String? {
        get { state.withLock { $0.titleLocalizationKey } }
        set { state.withLock { $0.titleLocalizationKey = newValue } }
    }

    /// The fields that are the arguments of the title.
    public var titleLocalizationArgs: [CKRecord.FieldKey]? {
        get { state.withLock { $0.titleLocalizationArgs } }
        set { state.withLock { $0.titleLocalizationArgs = newValue } }
    }

    /// The alert's second title.
    public var subtitle: String? {
        get { state.withLock { $0.subtitle } }
        set { state.withLock { $0.subtitle = newValue } }
    }

    /// The key of the second title in the app's strings.
    public var subtitleLocalizationKey: String? {
        get { state.withLock { $0.subtitleLocalizationKey } }
        set { state.withLock { $0.subtitleLocalizationKey = newValue } }
    }

    /// The fields that are the arguments of the second title.
    public var subtitleLocalizationArgs: [CKRecord.FieldKey]? {
        get { state.withLock { $0.subtitleLocalizationArgs } }
        set { state.withLock { $0.subtitleLocalizationArgs = newValue } }
    }

    /// The key of the button's text in the app's strings.
    public var alertActionLocalizationKey: String? {
        get { state.withLock { $0.alertActionLocalizationKey } }
        set { state.withLock { $0.alertActionLocalizationKey = newValue } }
    }

    /// The launch image of the app.
    public var alertLaunchImage: String? {
        get { state.withLock { $0.alertLaunchImage } }
        set { state.withLock { $0.alertLaunchImage = newValue } }
    }

    /// The sound to play.
    public var soundName: String? {
        get { state.withLock { $0.soundName } }
        set { state.withLock { $0.soundName = newValue } }
    }

    /// The fields to include in the notification.
    public var desiredKeys: [CKRecord.FieldKey]? {
        get { state.withLock { $0.additionalFields } }
        set { state.withLock { $0.additionalFields = newValue } }
    }

    /// True if the app's badge is incremented.
    public var shouldBadge: Bool {
        get { state.withLock { $0.shouldBadge } ?? false }
        set { state.withLock { $0.shouldBadge = newValue ? true : nil } }
    }

    /// True if the app is woken to fetch, without an alert.
    public var shouldSendContentAvailable: Bool {
        get { state.withLock { $0.shouldSendContentAvailable } ?? false }
        set { state.withLock { $0.shouldSendContentAvailable = newValue ? true : nil } }
    }

    /// True if an extension of the app may change the alert.
    public var shouldSendMutableContent: Bool {
        get { state.withLock { $0.shouldSendMutableContent } ?? false }
        set { state.withLock { $0.shouldSendMutableContent = newValue ? true : nil } }
    }

    /// The category of the alert's actions.
    public var category: String? {
        get { state.withLock { $0.category } }
        set { state.withLock { $0.category = newValue } }
    }

    /// The key under which notifications replace each other.
    public var collapseIDKey: String? {
        get { state.withLock { $0.collapseIDKey } }
        set { state.withLock { $0.collapseIDKey = newValue } }
    }

    /// Returns a copy.
    public func copy(with zone: NSZone? = nil) -> Any { CKNotificationInfo(wire) }

    /// Returns true if `object` has the same contents.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKNotificationInfo else { return false }
        return other === self || other.wire == wire
    }

    /// Hash value. Equal for equal objects.
    public override var hash: Int { wire.hashValue }

    // MARK: Archives

    /// It can be read from archives with secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes it in a keyed archive.
    public func encode(with coder: NSCoder) {
        // Texts and truth values are always JSON.
        guard let json = try? wire.json() else { return }
        coder.encode(Data(json) as NSData, forKey: "NotificationInfo")
    }

    /// Reads one from a keyed archive; nil if it has none.
    public required init?(coder: NSCoder) {
        guard let data = coder.object(NSData.self, forKey: "NotificationInfo"),
            let wire = try? WireNotificationInfo(json: [UInt8](Data(referencing: data)))
        else { return nil }
        state = Lock(wire)
    }
}
