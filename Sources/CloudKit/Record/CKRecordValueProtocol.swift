public import CoreLocation
public import Foundation

/// A type of a field's value.
public protocol CKRecordValueProtocol {}

/// A field's value. On Apple's platforms, the Objective-C form of the same types.
public typealias CKRecordValue = CKRecordValueProtocol

/// The classes among the value types, which the Objective-C form of a record uses.
public protocol __CKRecordObjCValue: CKRecordValueProtocol {}

extension String: CKRecordValueProtocol {}
extension Date: CKRecordValueProtocol {}
extension Data: CKRecordValueProtocol {}
extension Bool: CKRecordValueProtocol {}
extension Double: CKRecordValueProtocol {}
extension Float: CKRecordValueProtocol {}
extension Int: CKRecordValueProtocol {}
extension Int8: CKRecordValueProtocol {}
extension Int16: CKRecordValueProtocol {}
extension Int32: CKRecordValueProtocol {}
extension Int64: CKRecordValueProtocol {}
extension UInt: CKRecordValueProtocol {}
extension UInt8: CKRecordValueProtocol {}
extension UInt16: CKRecordValueProtocol {}
extension UInt32: CKRecordValueProtocol {}
extension UInt64: CKRecordValueProtocol {}
extension Array: CKRecordValueProtocol where Element: CKRecordValueProtocol {}

extension NSString: __CKRecordObjCValue {}
extension NSNumber: __CKRecordObjCValue {}
extension NSDate: __CKRecordObjCValue {}
extension NSData: __CKRecordObjCValue {}
extension NSArray: __CKRecordObjCValue {}
extension CKReference: __CKRecordObjCValue {}
extension CKAsset: __CKRecordObjCValue {}
extension CLLocation: __CKRecordObjCValue {}
