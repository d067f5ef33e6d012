/// Header fields as one array of bytes and the positions of names and values in it.
struct HTTPFields: Sendable {
    /// Positions of a field's name and value.
    struct Place: Sendable {
        var nameStart: Int32, nameEnd: Int32, valueStart: Int32, valueEnd: Int32
    }

    private let bytes: [UInt8]
    private let places: [Place]

    init(bytes: [UInt8], places: [Place]) {
        self.bytes = bytes
        self.places = places
    }

    init(_ headers: [(name: String, value: String)]) {
        var bytes = [UInt8]()
        var places = [Place]()
        for header in headers {
            let nameStart = Int32(bytes.count)
            bytes += header.name.utf8
            let nameEnd = Int32(bytes.count)
            bytes += header.value.utf8
            places.append(
                Place(
                    nameStart: nameStart, nameEnd: nameEnd, valueStart: nameEnd, valueEnd: Int32(bytes.count))
            )
        }
        self.init(bytes: bytes, places: places)
    }

    var all: [(name: String, value: String)] {
        places.map { (text($0.nameStart, $0.nameEnd), text($0.valueStart, $0.valueEnd)) }
    }

    func first(_ name: String) -> String? {
        var name = name
        return name.withUTF8 { wanted in
            for place in places where Int(place.nameEnd - place.nameStart) == wanted.count {
                if isEqual(place, wanted) { return text(place.valueStart, place.valueEnd) }
            }
            return nil
        }
    }

    private func isEqual(_ place: Place, _ wanted: UnsafeBufferPointer<UInt8>) -> Bool {
        let start = Int(place.nameStart)
        for index in 0..<wanted.count where lowered(bytes[start + index]) != lowered(wanted[index]) {
            return false
        }
        return true
    }

    private func text(_ start: Int32, _ end: Int32) -> String {
        String(decoding: bytes[Int(start)..<Int(end)], as: UTF8.self)
    }
}

/// Returns the lower-case form of an ASCII letter. Other bytes are unchanged.
@inline(__always)
func lowered(_ byte: UInt8) -> UInt8 {
    byte &- 0x41 < 26 ? byte | 0x20 : byte
}
