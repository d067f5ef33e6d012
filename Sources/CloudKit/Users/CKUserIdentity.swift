internal import CloudWire
public import Foundation

/// A user of the app: the signed-in one, or a discoverable one.
public final class CKUserIdentity: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// The data by which a user is looked up.
    public typealias LookupInfo = CKUserIdentityLookupInfo

    /// The lookup that found the user; nil if all users were requested.
    public let lookupInfo: LookupInfo?
    /// The user's name, if the user has provided it.
    public let nameComponents: PersonNameComponents?
    /// The user's own record.
    public let userRecordID: CKRecord.ID?
    /// True if the user has an account of this cloud.
    public let hasiCloudAccount: Bool
    /// The entries of the device's address book that are this user: none.
    /// - Note: Inert: there is no address book on Linux.
    public var contactIdentifiers: [String] { [] }

    /// An identity without data, except for its lookup.
    init(lookupInfo: LookupInfo?) {
        self.lookupInfo = lookupInfo
        nameComponents = nil
        userRecordID = nil
        hasiCloudAccount = false
    }

    init(_ identity: UserIdentity, lookupInfo: LookupInfo?) {
        self.lookupInfo = lookupInfo
        nameComponents = identity.nameComponents.map { name in
            var components = PersonNameComponents()
            components.givenName = name.givenName
            components.familyName = name.familyName
            return components
        }
        userRecordID = CKRecordID(recordName: identity.userRecordName)
        hasiCloudAccount = true
    }

    /// Returns the identity itself, because an identity never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns true if `object` is the same user, found in the same way.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKUserIdentity else { return false }
        return userRecordID == other.userRecordID && lookupInfo == other.lookupInfo
    }

    /// The same for equal identities.
    public override var hash: Int { userRecordID?.hash ?? 0 }

    // MARK: Archives (keys as Apple's)

    /// Identities can be read from archives with secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the identity in a keyed archive.
    public func encode(with coder: NSCoder) {
        if let userRecordID { coder.encode(userRecordID, forKey: "UserRecordID") }
        if let lookupInfo { coder.encode(lookupInfo, forKey: "LookupInfo") }
        coder.encode(hasiCloudAccount, forKey: "HasICloudAccount")
        if let nameComponents {
            coder.encode(nameComponents as NSPersonNameComponents, forKey: "NameComponents")
        }
    }

    /// Reads an identity from a keyed archive.
    public init?(coder: NSCoder) {
        userRecordID = coder.object(CKRecordID.self, forKey: "UserRecordID")
        lookupInfo = coder.object(CKUserIdentityLookupInfo.self, forKey: "LookupInfo")
        hasiCloudAccount =
            coder.containsValue(forKey: "HasICloudAccount") && coder.decodeBool(forKey: "HasICloudAccount")
        nameComponents = ArchivedPersonName.read(coder, forKey: "NameComponents")
    }
}

/// The data by which a user is looked up: an email address, a telephone number, or the user's record.
public final class CKUserIdentityLookupInfo: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// The user's email address.
    public let emailAddress: String?
    /// The user's telephone number. The service has none, so it finds no user by it.
    public let phoneNumber: String?
    /// The user's own record.
    public let userRecordID: CKRecord.ID?

    private init(_ emailAddress: String?, _ phoneNumber: String?, _ userRecordID: CKRecord.ID?) {
        self.emailAddress = emailAddress
        self.phoneNumber = phoneNumber
        self.userRecordID = userRecordID
    }

    /// Makes a lookup by an email address.
    public convenience init(emailAddress: String) { self.init(emailAddress, nil, nil) }
    /// Makes a lookup by a telephone number.
    public convenience init(phoneNumber: String) { self.init(nil, phoneNumber, nil) }
    /// Makes a lookup by the user's own record.
    public convenience init(userRecordID: CKRecord.ID) { self.init(nil, nil, userRecordID) }

    /// Makes a lookup for each of these email addresses.
    public static func lookupInfos(withEmails emails: [String]) -> [CKUserIdentityLookupInfo] {
        emails.map { CKUserIdentityLookupInfo(emailAddress: $0) }
    }

    /// Makes a lookup for each of these telephone numbers.
    public static func lookupInfos(withPhoneNumbers phoneNumbers: [String]) -> [CKUserIdentityLookupInfo] {
        phoneNumbers.map { CKUserIdentityLookupInfo(phoneNumber: $0) }
    }

    /// Makes a lookup for each of these users' records.
    public static func lookupInfos(with recordIDs: [CKRecord.ID]) -> [CKUserIdentityLookupInfo] {
        recordIDs.map { CKUserIdentityLookupInfo(userRecordID: $0) }
    }

    var wire: UserLookupInfo {
        UserLookupInfo(
            emailAddress: emailAddress, phoneNumber: phoneNumber, userRecordName: userRecordID?.recordName)
    }

    convenience init(_ info: UserLookupInfo) {
        self.init(
            info.emailAddress, info.phoneNumber, info.userRecordName.map { CKRecordID(recordName: $0) })
    }

    /// Returns the object itself, because it never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns true if `object` is an equal lookup.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKUserIdentityLookupInfo)?.wire == wire
    }

    /// Hash value. Equal for equal objects.
    public override var hash: Int { wire.hashValue }

    // MARK: Archives (keys as Apple's)

    /// It can be read from archives with secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes it in a keyed archive.
    public func encode(with coder: NSCoder) {
        if let emailAddress { coder.encode(emailAddress as NSString, forKey: "EmailAddress") }
        if let phoneNumber { coder.encode(phoneNumber as NSString, forKey: "PhoneNumber") }
        if let userRecordID { coder.encode(userRecordID, forKey: "RecordID") }
    }

    /// Reads it from a keyed archive; nil if it has none.
    public convenience init?(coder: NSCoder) {
        self.init(
            coder.string(forKey: "EmailAddress"), coder.string(forKey: "PhoneNumber"),
            coder.object(CKRecordID.self, forKey: "RecordID"))
        guard emailAddress != nil || phoneNumber != nil || userRecordID != nil else { return nil }
    }
}
