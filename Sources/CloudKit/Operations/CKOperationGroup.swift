public import Foundation
internal import System

/// Operations that belong together: one piece of the user's work. The server's log has the group's name.
open class CKOperationGroup: NSObject, NSSecureCoding, @unchecked Sendable {
    // Sendable because an app sets it up before it gives it to an operation, and nothing changes it after, as
    // Apple's documentation demands.

    /// How much is expected to be sent or fetched.
    public enum TransferSize: Int, Sendable {
        /// Nobody knows.
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

    /// The group's identity.
    public let operationGroupID: String
    /// What an operation of the group goes by where its own configuration says nothing; never nil. What is set is
    /// copied, and nil sets the default one.
    public var defaultConfiguration: CKOperation.Configuration! {
        get { ownConfiguration }
        set { ownConfiguration = newValue?.filled(from: nil) ?? CKOperation.Configuration() }
    }
    var ownConfiguration = CKOperation.Configuration()
    /// What the group does, for logs.
    public var name: String?
    /// How many things the group is about, as the app counts them.
    public var quantity = 0
    /// How much is expected to be sent.
    public var expectedSendSize = TransferSize.unknown
    /// How much is expected to be fetched.
    public var expectedReceiveSize = TransferSize.unknown

    /// Makes a group.
    public override init() {
        operationGroupID = SystemRandomSource().nextUUID()
        super.init()
    }

    /// Groups can be read from archives that name the classes they expect.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the group to a keyed archive, without its configuration's container.
    open func encode(with coder: NSCoder) {
        coder.encode(operationGroupID as NSString, forKey: "OperationGroupID")
        if let name { coder.encode(name as NSString, forKey: "Name") }
        coder.encode(quantity, forKey: "Quantity")
        coder.encode(expectedSendSize.rawValue, forKey: "ExpectedSendSize")
        coder.encode(expectedReceiveSize.rawValue, forKey: "ExpectedReceiveSize")
    }

    /// Reads a group from a keyed archive; nil when it holds none.
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
