public import Foundation
internal import System

/// Operations that belong together, as one action of the user. The server's log has the group's name.
open class CKOperationGroup: NSObject, NSSecureCoding, @unchecked Sendable {
    // Sendable because an app sets its properties before it assigns it to an operation, and doesn't change it
    // later, as Apple's documentation requires.

    /// An expected amount of data.
    public enum TransferSize: Int, Sendable {
        /// The amount is unknown.
        case unknown = 0
        /// Less than a megabyte.
        case kilobytes = 1
        /// Less than ten megabytes.
        case megabytes = 2
        /// Less than a hundred.
        case tensOfMegabytes = 3
        /// Less than a gigabyte.
        case hundredsOfMegabytes = 4
        /// Less than ten gigabytes.
        case gigabytes = 5
        /// Less than a hundred.
        case tensOfGigabytes = 6
        /// More.
        case hundredsOfGigabytes = 7
    }

    /// The group's ID.
    public let operationGroupID: String
    /// The options of the group's operations where their own configuration has none; never nil. A set value is copied,
    /// and nil sets the default options.
    public var defaultConfiguration: CKOperation.Configuration! {
        get { ownConfiguration }
        set { ownConfiguration = newValue?.filled(from: nil) ?? CKOperation.Configuration() }
    }
    var ownConfiguration = CKOperation.Configuration()
    /// The group's name, for logs.
    public var name: String?
    /// Number of things that the group is about, as the app counts them.
    public var quantity = 0
    /// The expected amount of data to send.
    public var expectedSendSize = TransferSize.unknown
    /// The expected amount of data to fetch.
    public var expectedReceiveSize = TransferSize.unknown

    /// Makes a group.
    public override init() {
        operationGroupID = SystemRandomSource().nextUUID()
        super.init()
    }

    /// Groups can be read from archives with secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the group to a keyed archive, without its configuration's container.
    open func encode(with coder: NSCoder) {
        coder.encode(operationGroupID as NSString, forKey: "OperationGroupID")
        if let name { coder.encode(name as NSString, forKey: "Name") }
        coder.encode(quantity, forKey: "Quantity")
        coder.encode(expectedSendSize.rawValue, forKey: "ExpectedSendSize")
        coder.encode(expectedReceiveSize.rawValue, forKey: "ExpectedReceiveSize")
    }

    /// Reads a group from a keyed archive; nil if it has none.
    public required init?(coder: NSCoder) {
        guard let operationGroupID = coder.string(forKey: "OperationGroupID") else { return nil }
        self.operationGroupID = operationGroupID
        name = coder.string(forKey: "Name")
        quantity = coder.decodeInteger(forKey: "Quantity")
        expectedSendSize = TransferSize(rawValue: coder.decodeInteger(forKey: "ExpectedSendSize")) ?? .unknown
        expectedReceiveSize =
            TransferSize(rawValue: coder.decodeInteger(forKey: "ExpectedReceiveSize")) ?? .unknown
        super.init()
    }
}
