import Foundation
import Yap

/// The object coder against the one that an app would take otherwise.
func coderLines() throws -> [Line] {
    let workload = try Workload(rowsCount: 2000)
    let notes = workload.notes
    let cbor = workload.encoded
    let json = try notes.map { try JSONEncoder().encode($0) }
    return [
        Line(
            name: "yap.cbor.encode", unit: "objects/s",
            ours: { _ in
                let encoder = CBOREncoder()
                return try rate(notes.count) { for note in notes { _ = try encoder.encode(note) } }
            },
            reference: { _ in
                let encoder = JSONEncoder()
                return try rate(notes.count) { for note in notes { _ = try encoder.encode(note) } }
            }),
        Line(
            name: "yap.cbor.decode", unit: "objects/s",
            ours: { _ in
                let decoder = CBORDecoder()
                return try rate(cbor.count) {
                    for bytes in cbor { _ = try decoder.decode(Note.self, from: bytes) }
                }
            },
            reference: { _ in
                let decoder = JSONDecoder()
                return try rate(json.count) {
                    for data in json { _ = try decoder.decode(Note.self, from: data) }
                }
            }),
    ]
}
