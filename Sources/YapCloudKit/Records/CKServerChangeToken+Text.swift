package import CloudKit
import Foundation

/// A token as text in the tables: the contents of the framework's archive.
extension CKServerChangeToken {
    /// Creates a token from its stored text.
    package convenience init?(storedText: String) {
        #if canImport(Darwin)
            guard let data = Data(base64Encoded: storedText),
                let coder = try? NSKeyedUnarchiver(forReadingFrom: data)
            else { return nil }
            self.init(coder: coder)
        #else
            self.init(coder: TokenCoder(text: storedText))
        #endif
    }

    /// Text from which the token can be created again.
    package var storedText: String {
        #if canImport(Darwin)
            let archiver = NSKeyedArchiver(requiringSecureCoding: true)
            encode(with: archiver)
            return archiver.encodedData.base64EncodedString()
        #else
            let coder = TokenCoder(text: "")
            encode(with: coder)
            return coder.text
        #endif
    }
}

#if !canImport(Darwin)
    /// The archive of a token, which is one value. A coder is used once, by one thread.
    private final class TokenCoder: NSCoder {
        private static let key = "ChangeTokenData"
        private(set) var text: String

        init(text: String) {
            self.text = text
        }

        override var allowsKeyedCoding: Bool { true }
        override var requiresSecureCoding: Bool { true }

        override func encode(_ object: Any?, forKey key: String) {
            if key == Self.key, let data = object as? Data { text = String(decoding: data, as: UTF8.self) }
        }

        override func containsValue(forKey key: String) -> Bool { key == Self.key }
        override func decodeObject(forKey key: String) -> Any? {
            key == Self.key ? Data(text.utf8) as NSData : nil
        }

        override func decodeObject(of classes: [AnyClass]?, forKey key: String) -> Any? {
            decodeObject(forKey: key)
        }
    }
#endif
