public import CoreLocation
public import Foundation

// Arguments of `NSPredicate(format:)`. On Apple's platforms every object is one; on Linux, Foundation
// declares only strings and numbers. The encoding is for C's `va_list`, which predicates don't use: it is the
// object's address.

extension NSObjectProtocol where Self: NSObject {
    /// The object's address.
    public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}

extension NSNumber: @retroactive CVarArg {}
extension NSDate: @retroactive CVarArg {}
extension NSData: @retroactive CVarArg {}
extension NSArray: @retroactive CVarArg {}
extension NSSet: @retroactive CVarArg {}
extension NSNull: @retroactive CVarArg {}
extension NSUUID: @retroactive CVarArg {}
extension CLLocation: CVarArg {}
extension CKRecord: CVarArg {}
extension CKRecordID: CVarArg {}
extension CKRecordZoneID: CVarArg {}
extension CKReference: CVarArg {}
extension CKAsset: CVarArg {}

extension Date: @retroactive CVarArg {
    /// Never read: see `NSPredicate(format:)`.
    public var _cVarArgEncoding: [Int] { [0] }
}

extension Data: @retroactive CVarArg {
    /// Never read: see `NSPredicate(format:)`.
    public var _cVarArgEncoding: [Int] { [0] }
}

extension UUID: @retroactive CVarArg {
    /// Never read: see `NSPredicate(format:)`.
    public var _cVarArgEncoding: [Int] { [0] }
}

extension Array: @retroactive CVarArg {
    /// Never read: see `NSPredicate(format:)`.
    public var _cVarArgEncoding: [Int] { [0] }
}

extension Set: @retroactive CVarArg {
    /// Never read: see `NSPredicate(format:)`.
    public var _cVarArgEncoding: [Int] { [0] }
}
