import CloudService
import HTTPServer
import System

/// Reads a part of a file for a download, as fast as the client reads.
final class FileSource: HTTPBodySource {
    private let part: FilePart
    private let worker: Worker
    /// Bytes given so far, or nil after the end.
    private let given = Lock<Int64?>(0)
    private let ending: TransferEnd

    init(_ part: FilePart, _ worker: Worker, _ ending: TransferEnd) {
        self.part = part
        self.worker = worker
        self.ending = ending
    }

    var byteCount: Int? { Int(part.count) }

    func pull(bytesMax: Int, _ pull: HTTPBodyPull) {
        let isTaken = worker.submit(isOwed: true) { [self] in
            guard let offset = given.withLock({ $0 }) else { return pull.fail() }
            let wanted = Int(min(Int64(bytesMax), part.count - offset))
            // If the file is truncated or unreadable, the client must see a closed connection, not an end.
            guard let bytes = try? part.file.read(at: part.offset + offset, bytesMax: wanted), !bytes.isEmpty
            else {
                return pull.fail()
            }
            let total = offset + Int64(bytes.count)
            given.withLock { if $0 != nil { $0 = total } }
            total == part.count ? pull.end(bytes) : pull.send(bytes)
        }
        if !isTaken { pull.fail() }
    }

    func cancelled() { given.withLock { $0 = nil } }
}
