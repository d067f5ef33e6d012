import CloudKit
import Foundation
import YapCloudKit

/// A colour of the app, which a record can't hold.
struct MyColor: Codable, Equatable, Sendable {
    var red = 0
    var green = 0
    var blue = 0
    var alpha = 255

    /// "r,g,b,a".
    var text: String { "\(red),\(green),\(blue),\(alpha)" }

    init(red: Int, green: Int, blue: Int, alpha: Int = 255) {
        (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
    }

    init?(text: String?) {
        let parts = (text ?? "").split(separator: ",").compactMap { Int($0) }
        guard parts.count == 4 else { return nil }
        (red, green, blue, alpha) = (parts[0], parts[1], parts[2], parts[3])
    }
}

/// The seeds' todo: two properties have another name in the cloud, one another type.
final class MyTodo: MyDatabaseObject, @unchecked Sendable {
    @Monitored var uuid = UUID().uuidString
    @Monitored var title = ""
    @Monitored var priority = 0
    @Monitored var isCompleted = false
    @Monitored var creationDate = Date(timeIntervalSince1970: 1_500_000_000)
    @Monitored var note: String?
    @Monitored var color: MyColor?

    convenience init(uuid: String, title: String) {
        self.init()
        self.uuid = uuid
        self.title = title
    }

    convenience init(record: CKRecord) {
        self.init()
        uuid = record.recordID.recordName
        for key in record.allKeys() {
            setLocalValue(fromCloudValue: record.object(forKey: key), forCloudKey: key)
        }
    }

    override class var mappings_localKeyToCloudKey: [String: String] {
        var mappings = super.mappings_localKeyToCloudKey
        mappings["isCompleted"] = "completed"
        mappings["creationDate"] = "created"
        mappings["uuid"] = nil
        return mappings
    }

    override func cloudValue(forCloudKey cloudKey: String) -> (any CKRecordValueProtocol)? {
        // We store the colour in the cloud as a string (r,g,b,a)
        if cloudKey == "color" { return color?.text }
        return super.cloudValue(forCloudKey: cloudKey)
    }

    override func setLocalValue(
        fromCloudValue cloudValue: (any CKRecordValueProtocol)?, forCloudKey cloudKey: String
    ) {
        if cloudKey == "color" {
            color = MyColor(text: cloudValue as? String)
        } else {
            super.setLocalValue(fromCloudValue: cloudValue, forCloudKey: cloudKey)
        }
    }
}

/// The seeds' user: two properties stay on the device.
final class MyUser: MyDatabaseObject, @unchecked Sendable {
    @Monitored var name = ""
    @Monitored var pushToken = ""
    @Monitored var deviceID = ""

    override class var mappings_localKeyToCloudKey: [String: String] {
        var mappings = super.mappings_localKeyToCloudKey
        mappings["pushToken"] = nil
        mappings["deviceID"] = nil
        return mappings
    }
}
