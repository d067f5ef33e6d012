extension WireError: JSONObject, JSONMessage {
    static var blank: Self { Self(.internalError) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.optional("recordName", &recordName)
        members.optional("zoneID", &zoneID)
        members.optional("subscriptionID", &subscriptionID)
        members.optional("uuid", &uuid)
        members.required("serverErrorCode", choice: &serverErrorCode)
        members.optional("reason", &reason)
        members.optional("retryAfter", &retryAfterSeconds)
        members.optional("redirectURL", &redirectURL)
        guard members.includesExtras else { return }
        members.member("ckErrorCode", .optional) { node throws(JSONError) in
            ckErrorCode = Int(try node.int64())
        } write: {
            $0.member("ckErrorCode", ckErrorCode.map { Int64($0) })
        }
        members.optional("serverRecord", &serverRecord)
        members.optional("tokenRefusal", choice: &tokenRefusal, named: "refusal of a token")
        members.member("zoneWasDeleted", .optional) { node throws(JSONError) in
            zoneWasDeleted = try node.bool()
        } write: {
            $0.member("zoneWasDeleted", zoneWasDeleted ? true : nil)
        }
    }
}
