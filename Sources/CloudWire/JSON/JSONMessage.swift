/// The body of a request or a response.
package protocol JSONMessage: Hashable, Sendable {
    /// Reads a message from its JSON, in which unknown keys are kept.
    ///
    /// Throws when the bytes are not JSON, go beyond the limits, or have another shape than the message; the
    /// error's `wireError` is what a server answers.
    init(json: [UInt8], limits: JSONLimits) throws(JSONError)

    /// The message as JSON, the same bytes each time.
    ///
    /// With `extras`, the keys that Apple's protocol doesn't have are written too: for our own clients only. `assets`
    /// says how files are told of, where that is not as they stand in the message.
    /// Throws when the message holds a number that JSON can't, as an infinite one, and `limitExceeded` when the JSON
    /// has more than `bytesMax` bytes; what is written beyond them takes no memory.
    func json(
        extras: Bool, numbersAsStrings: Bool, assets: AssetForm?, bytesMax: Int
    ) throws(JSONError) -> [UInt8]
}

extension JSONMessage {
    /// Reads a message within the usual limits.
    package init(json: [UInt8]) throws(JSONError) {
        try self.init(json: json, limits: JSONLimits())
    }

    /// Reads a request within the usual limits. Keys that it doesn't know are checked and dropped: they would take
    /// memory while the request waits.
    package init(request json: [UInt8]) throws(JSONError) {
        var limits = JSONLimits()
        limits.keepsUnknown = false
        try self.init(json: json, limits: limits)
    }

    /// The message as JSON, files as they stand in it.
    package func json(extras: Bool, numbersAsStrings: Bool) throws(JSONError) -> [UInt8] {
        try json(extras: extras, numbersAsStrings: numbersAsStrings, assets: nil, bytesMax: .max)
    }

    /// The message as JSON; without extras unless they are asked for.
    package func json(extras: Bool = false) throws(JSONError) -> [UInt8] {
        try json(extras: extras, numbersAsStrings: false)
    }
}

extension JSONCodable {
    /// Reads a value from its JSON.
    package init(json: [UInt8], limits: JSONLimits) throws(JSONError) {
        self = try JSONReader.read(json, limits: limits) { node throws(JSONError) in try Self(reading: node) }
    }

    /// The value as JSON.
    package func json(
        extras: Bool, numbersAsStrings: Bool, assets: AssetForm?, bytesMax: Int
    ) throws(JSONError) -> [UInt8] {
        var writer = JSONWriter(
            includesExtras: extras, numbersAsStrings: numbersAsStrings, assetForm: assets, bytesMax: bytesMax)
        write(to: &writer)
        return try writer.finish()
    }
}
