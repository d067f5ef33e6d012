// The global names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The domain of CloudKit's errors.
public let CKErrorDomain = "CKErrorDomain"
/// The errors of the single items, by the items' IDs.
public let CKPartialErrorsByItemIDKey = "CKPartialErrors"
/// Seconds after which a request is worth trying again.
public let CKErrorRetryAfterKey = "CKRetryAfter"
/// A conflict's record as the server last sent it before the client changed it.
public let CKRecordChangedErrorAncestorRecordKey = "AncestorRecord"
/// The server's record in a conflict.
public let CKRecordChangedErrorServerRecordKey = "ServerRecord"
/// A conflict's record as the client tried to save it.
public let CKRecordChangedErrorClientRecordKey = "ClientRecord"
/// True if a zone was deleted because the user reset their encrypted data.
public let CKErrorUserDidResetEncryptedDataKey = "CKErrorUserDidResetEncryptedData"
