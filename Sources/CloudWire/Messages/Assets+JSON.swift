extension AssetsUploadRequest: JSONObject, JSONMessage {
    static var blank: Self { Self(tokens: []) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.optional("zoneID", &zoneID)
        members.required("tokens", &tokens)
    }
}

extension AssetsUploadRequest.Token: JSONObject {
    static var blank: Self { Self(fieldName: "") }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.optional("recordName", &recordName)
        members.optional("recordType", &recordType)
        members.required("fieldName", &fieldName)
    }
}

extension AssetsUploadResponse: JSONObject, JSONMessage {
    static var blank: Self { Self(tokens: []) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("tokens", &tokens)
    }
}

extension AssetsUploadResponse.Token: JSONObject {
    static var blank: Self { Self(recordName: "", fieldName: "", url: "") }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("recordName", &recordName)
        members.required("fieldName", &fieldName)
        members.required("url", &url)
    }
}

extension AssetUploadedResponse: JSONObject, JSONMessage {
    static var blank: Self { Self(singleFile: Asset()) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("singleFile", &singleFile)
    }
}

extension AssetsRereferenceRequest: JSONObject, JSONMessage {
    static var blank: Self { Self(assets: []) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.optional("zoneID", &zoneID)
        members.optional("targetZoneID", &targetZoneID)
        members.required("assets", &assets)
    }
}

extension AssetsRereferenceRequest.Source: JSONObject {
    static var blank: Self { Self(recordName: "", fieldName: "") }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("recordName", &recordName)
        members.required("fieldName", &fieldName)
    }
}

extension AssetsRereferenceResponse: JSONObject, JSONMessage {
    static var blank: Self { Self(assets: []) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("assets", &assets)
    }
}

extension AssetsRereferenceResponse.Result: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        let isError = try node.members().contains { $0.key.string == "serverErrorCode" }
        self = isError ? .error(try WireError(reading: node)) : .asset(try Asset(reading: node))
    }

    func write(to writer: inout JSONWriter) {
        switch self {
        case .asset(let asset): asset.write(to: &writer)
        case .error(let error): error.write(to: &writer)
        }
    }
}
