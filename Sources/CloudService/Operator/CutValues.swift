import CloudWire

extension ServiceWork {
    /// The same work with the values of its records truncated to `bytesMax` bytes, or whole if it is nil.
    func cutting(to bytesMax: Int?) -> ServiceWork {
        guard let bytesMax, case .read(let read) = self else { return self }
        return .read { reader in try read(reader).cutting(to: bytesMax) }
    }
}

extension ServiceAnswer {
    fileprivate func cutting(to bytesMax: Int) -> ServiceAnswer {
        guard case .message(let message, let numbersAsStrings, let ifTooLarge) = self,
            var page = message as? RecordsQueryResponse
        else { return self }
        page.records = page.records.map { $0.cutting(to: bytesMax) }
        var smaller = ifTooLarge
        if case .ask(let read) = ifTooLarge {
            smaller = .ask { reader in try read(reader).cutting(to: bytesMax) }
        }
        return .message(page, numbersAsStrings: numbersAsStrings, ifTooLarge: smaller)
    }
}

extension RecordResult {
    fileprivate func cutting(to bytesMax: Int) -> RecordResult {
        guard case .record(var record) = self else { return self }
        do {
            if let stored = record.storedFields { record.fields = try FieldsBinary.decode(stored) }
        } catch {
            return .error(ServiceError.unreadableRecord.named(record.recordName))
        }
        record.storedFields = nil
        var cuts: [String: JSONValue] = [:]
        for (name, field) in record.fields {
            guard let value = field.value, let (cut, whole) = value.cut(to: bytesMax) else { continue }
            record.fields[name]?.value = cut
            cuts[name] = whole
        }
        if !cuts.isEmpty { record.unknown["cutFields"] = .object(cuts) }
        return .record(record)
    }
}

extension FieldValue {
    /// Returns the beginning of a value that exceeds the limit, and the size of the whole value. Nil if the value
    /// fits.
    fileprivate func cut(to bytesMax: Int) -> (value: FieldValue, whole: JSONValue)? {
        switch self {
        case .string(let text):
            guard text.utf8.count > bytesMax else { return nil }
            return (.string(text.beginning(bytesMax: bytesMax)), .number("bytes", text.utf8.count))
        case .bytes(let bytes):
            guard bytes.count > bytesMax else { return nil }
            return (.bytes(Array(bytes.prefix(bytesMax))), .number("bytes", bytes.count))
        case .encryptedBytes(let bytes):
            guard bytes.count > bytesMax else { return nil }
            return (.encryptedBytes(Array(bytes.prefix(bytesMax))), .number("bytes", bytes.count))
        case .list(let type, let values):
            let kept = Self.beginning(of: values, bytesMax: bytesMax)
            guard kept.count < values.count || kept != values else { return nil }
            return (.list(type, kept), .number("count", values.count))
        case .int64, .double, .timestamp, .reference, .location, .asset:
            return nil
        }
    }

    /// Returns the first elements of a list up to a total size. If the first element exceeds it, that element is
    /// truncated.
    private static func beginning(of values: [FieldValue], bytesMax: Int) -> [FieldValue] {
        var left = bytesMax
        let kept = values.prefix { value in
            left -= value.bytesAbout
            return left >= 0
        }
        guard kept.isEmpty, let first = values.first else { return Array(kept) }
        return [first.cut(to: bytesMax)?.value ?? first]
    }

    private var bytesAbout: Int {
        switch self {
        case .string(let text): text.utf8.count + 3
        case .bytes(let bytes), .encryptedBytes(let bytes): bytes.count + 3
        case .reference(let reference): reference.recordName.utf8.count + 40
        case .location, .asset: 200
        case .int64, .double, .timestamp: 12
        case .list(_, let values): values.reduce(0) { $0 + $1.bytesAbout }
        }
    }
}

extension JSONValue {
    fileprivate static func number(_ name: String, _ number: Int) -> JSONValue {
        .object([name: .integer(Int64(number))])
    }
}

extension String {
    /// Returns the longest prefix of up to `bytesMax` bytes that doesn't split a code point.
    fileprivate func beginning(bytesMax: Int) -> String {
        var end = utf8.index(utf8.startIndex, offsetBy: bytesMax, limitedBy: utf8.endIndex) ?? utf8.endIndex
        while end > utf8.startIndex, end.samePosition(in: unicodeScalars) == nil {
            end = utf8.index(before: end)
        }
        return String(self[..<end])
    }
}
