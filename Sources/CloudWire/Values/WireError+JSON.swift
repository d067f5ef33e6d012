extension WireError: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(.internalError)
        var code: String?
        for member in try node.members() {
            let value = member.value
            switch member.key {
            case "serverErrorCode": code = try value.string()
            case _ where value.isNull: try unknown.keep(member)
            case "reason": reason = try value.string()
            case "recordName": recordName = try value.string()
            case "zoneID": zoneID = try ZoneID(reading: value)
            case "subscriptionID": subscriptionID = try value.string()
            case "retryAfter": retryAfterSeconds = try value.double()
            case "uuid": uuid = try value.string()
            case "redirectURL": redirectURL = try value.string()
            case "ckErrorCode": ckErrorCode = Int(try value.int64())
            case "serverRecord": serverRecord = try WireRecord(reading: value)
            case "tokenRefusal": tokenRefusal = try value.choice("refusal of a token")
            case "zoneWasDeleted": zoneWasDeleted = try value.bool()
            default: try unknown.keep(member)
            }
        }
        serverErrorCode = ServerErrorCode(rawValue: try node.required(code, "serverErrorCode"))
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("recordName", recordName)
            writer.member("zoneID", zoneID)
            writer.member("subscriptionID", subscriptionID)
            writer.member("uuid", uuid)
            writer.member("serverErrorCode", serverErrorCode.rawValue)
            writer.member("reason", reason)
            writer.member("retryAfter", retryAfterSeconds)
            writer.member("redirectURL", redirectURL)
            if writer.includesExtras {
                writer.member("ckErrorCode", ckErrorCode.map(Int64.init))
                writer.member("serverRecord", serverRecord)
                writer.member("tokenRefusal", tokenRefusal?.rawValue)
                writer.member("zoneWasDeleted", zoneWasDeleted ? true : nil)
            }
            writer.members(unknown)
        }
    }
}
