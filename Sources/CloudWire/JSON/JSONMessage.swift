/// The body of a request or a response.
package protocol JSONMessage: Hashable, Sendable {
    /// Reads a message from its JSON. Unknown keys are kept.
    ///
    /// Throws if the bytes aren't JSON, exceed the limits, or aren't this message. The server responds with
    /// the error's `wireError`.
    init(json: [UInt8], limits: JSONLimits) throws(JSONError)

    /// Returns the message as JSON. Equal messages have equal bytes.
    ///
    /// With `extras`, the keys are included that Apple's protocol doesn't have, for our own clients only.
    /// `assets` converts the files; nil writes them unchanged.
    /// Throws if the message contains a number that JSON can't represent, such as infinity. Throws
    /// `limitExceeded` if the JSON has more than `bytesMax` bytes; the excess bytes use no memory.
    /// has more than `bytesMax` bytes; what is written beyond them takes no memory.
    func json(
        extras: Bool, numbersAsStrings: Bool, assets: AssetForm?, bytesMax: Int
    ) throws(JSONError) -> [UInt8]
}

extension JSONMessage {
    /// Reads a message with the default limits.
    package init(json: [UInt8]) throws(JSONError) {
        try self.init(json: json, limits: JSONLimits())
    }

    /// Reads a request with the default limits. Unknown keys are checked and dropped, because they would use
    /// memory while the request is pending.
    package init(request json: [UInt8]) throws(JSONError) {
        var limits = JSONLimits()
        limits.keepsUnknown = false
        try self.init(json: json, limits: limits)
    }

    /// Returns the message as JSON, with its files unchanged.
    package func json(extras: Bool, numbersAsStrings: Bool) throws(JSONError) -> [UInt8] {
        try json(extras: extras, numbersAsStrings: numbersAsStrings, assets: nil, bytesMax: .max)
    }

    /// Returns the message as JSON. Default: without extras.
    package func json(extras: Bool = false) throws(JSONError) -> [UInt8] {
        try json(extras: extras, numbersAsStrings: false)
    }
}

extension JSONCodable {
    /// Reads a value from its JSON.
    package init(json: [UInt8], limits: JSONLimits) throws(JSONError) {
        self = try JSONReader.read(json, limits: limits) { node throws(JSONError) in try Self(reading: node) }
    }

    /// Returns the value as JSON.
    package func json(
        extras: Bool, numbersAsStrings: Bool, assets: AssetForm?, bytesMax: Int
    ) throws(JSONError) -> [UInt8] {
        var writer = JSONWriter(
            includesExtras: extras, numbersAsStrings: numbersAsStrings, assetForm: assets, bytesMax: bytesMax)
        write(to: &writer)
        return try writer.finish()
    }
}
