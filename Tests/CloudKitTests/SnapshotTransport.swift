import CloudKit
import CloudWire
import Foundation
import System

/// Copies a folder as it is at the end of a request: so it stays when the process is killed then. Either before the
/// framework has the answer, or when it has kept it and asks nothing more.
final class SnapshotTransport: Transport {
    private let base: any Transport
    private let source: String
    private let target: String
    private let isAnswered: Bool

    init(_ base: any Transport, from source: String, to target: String, isAnswered: Bool) {
        self.base = base
        self.source = source
        self.target = target
        self.isAnswered = isAnswered
    }

    func send(
        _ request: WireRequest, timeouts: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        base.send(request, timeouts: timeouts) { [self] result in
            if !isAnswered { copy() }
            completion(result)
            // The answer is kept before it is looked at.
            if isAnswered { copy() }
        }
    }

    func carry(
        _ file: FileRequest, timeouts: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        base.carry(file, timeouts: timeouts, completion: completion)
    }

    private func copy() {
        try? FileManager.default.removeItem(atPath: target)
        try? FileManager.default.copyItem(atPath: source, toPath: target)
        // A copy is as old as what it was made of.
        let source = URL(fileURLWithPath: source)
        for name in (try? FileManager.default.subpathsOfDirectory(atPath: source.path)) ?? [] {
            let attributes = try? FileManager.default.attributesOfItem(atPath: source.path + "/" + name)
            guard let date = attributes?[.modificationDate] else { continue }
            try? FileManager.default.setAttributes(
                [.modificationDate: date], ofItemAtPath: target + "/" + name)
        }
    }
}
