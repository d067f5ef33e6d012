extension AssetsUploadRequest: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(tokens: [])
        var tokens: [Token]?
        for member in try node.members() {
            switch member.key {
            case "tokens": tokens = try member.value.array(of: Token.self)
            case _ where member.value.isNull: try unknown.keep(member)
            case "zoneID": zoneID = try ZoneID(reading: member.value)
            default: try unknown.keep(member)
            }
        }
        self.tokens = try node.required(tokens, "tokens")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("zoneID", zoneID)
            writer.member("tokens", tokens)
            writer.members(unknown)
        }
    }
}

extension AssetsUploadRequest.Token: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(fieldName: "")
        var fieldName: String?
        for member in try node.members() {
            switch member.key {
            case "fieldName": fieldName = try member.value.string()
            case _ where member.value.isNull: try unknown.keep(member)
            case "recordName": recordName = try member.value.string()
            case "recordType": recordType = try member.value.string()
            default: try unknown.keep(member)
            }
        }
        self.fieldName = try node.required(fieldName, "fieldName")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("recordName", recordName)
            writer.member("recordType", recordType)
            writer.member("fieldName", fieldName)
            writer.members(unknown)
        }
    }
}

extension AssetsUploadResponse: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(tokens: [])
        var tokens: [Token]?
        for member in try node.members() {
            switch member.key {
            case "tokens": tokens = try member.value.array(of: Token.self)
            default: try unknown.keep(member)
            }
        }
        self.tokens = try node.required(tokens, "tokens")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("tokens", tokens)
            writer.members(unknown)
        }
    }
}

extension AssetsUploadResponse.Token: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(recordName: "", fieldName: "", url: "")
        var (recordName, fieldName, url): (String?, String?, String?)
        for member in try node.members() {
            switch member.key {
            case "recordName": recordName = try member.value.string()
            case "fieldName": fieldName = try member.value.string()
            case "url": url = try member.value.string()
            default: try unknown.keep(member)
            }
        }
        self.recordName = try node.required(recordName, "recordName")
        self.fieldName = try node.required(fieldName, "fieldName")
        self.url = try node.required(url, "url")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("recordName", recordName)
            writer.member("fieldName", fieldName)
            writer.member("url", url)
            writer.members(unknown)
        }
    }
}

extension AssetUploadedResponse: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(singleFile: Asset())
        var singleFile: Asset?
        for member in try node.members() {
            switch member.key {
            case "singleFile": singleFile = try Asset(reading: member.value)
            default: try unknown.keep(member)
            }
        }
        self.singleFile = try node.required(singleFile, "singleFile")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("singleFile", singleFile)
            writer.members(unknown)
        }
    }
}

extension AssetsRereferenceRequest: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(assets: [])
        var assets: [Source]?
        for member in try node.members() {
            switch member.key {
            case "assets": assets = try member.value.array(of: Source.self)
            case _ where member.value.isNull: try unknown.keep(member)
            case "zoneID": zoneID = try ZoneID(reading: member.value)
            case "targetZoneID": targetZoneID = try ZoneID(reading: member.value)
            default: try unknown.keep(member)
            }
        }
        self.assets = try node.required(assets, "assets")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("zoneID", zoneID)
            writer.member("targetZoneID", targetZoneID)
            writer.member("assets", assets)
            writer.members(unknown)
        }
    }
}

extension AssetsRereferenceRequest.Source: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(recordName: "", fieldName: "")
        var (recordName, fieldName): (String?, String?)
        for member in try node.members() {
            switch member.key {
            case "recordName": recordName = try member.value.string()
            case "fieldName": fieldName = try member.value.string()
            default: try unknown.keep(member)
            }
        }
        self.recordName = try node.required(recordName, "recordName")
        self.fieldName = try node.required(fieldName, "fieldName")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("recordName", recordName)
            writer.member("fieldName", fieldName)
            writer.members(unknown)
        }
    }
}

extension AssetsRereferenceResponse: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(assets: [])
        var assets: [Result]?
        for member in try node.members() {
            switch member.key {
            case "assets": assets = try member.value.array(of: Result.self)
            default: try unknown.keep(member)
            }
        }
        self.assets = try node.required(assets, "assets")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("assets", assets)
            writer.members(unknown)
        }
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
