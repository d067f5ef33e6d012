import FaultProxy
import Foundation
import Glibc
import ProcessSupport
import System

/// What goes wrong in the story on purpose, and the evidence that it did.
final class Mishaps: Sendable {
    /// One mishap, as the last table says it.
    struct Evidence: Sendable {
        let what: String
        let proof: String
        let happened: Bool
    }

    private struct State {
        var evidence = [Evidence]()
        var failure: (any Error)?
        var withheld: Int?
    }

    private let state = Lock(State())

    var evidence: [Evidence] { state.withLock { $0.evidence } }

    func add(_ what: String, _ proof: String, happened: Bool) {
        state.withLock { $0.evidence.append(Evidence(what: what, proof: proof, happened: happened)) }
    }

    /// From here on the reply of the device's next upload, or of the one after when there are two, is withheld while
    /// the server is killed and started again; then it is thrown away.
    func killServer(_ server: YapServer, atUpload number: Int, of device: TodoDevice, _ others: [TodoDevice])
    {
        let isUpload: @Sendable (ProxyExchange) -> Bool = {
            $0.path.hasSuffix("/records/modify") && $0.pathNumber == number
        }
        device.proxy.plan { isUpload($0) ? .withholdReply : .pass }
        device.proxy.handle { [self] event in
            guard case .replyArrived(let exchange, .withholdReply, let status) = event else { return }
            let old = server.process?.id ?? 0
            let end = server.killAndWait()
            do {
                let port = try server.startAndWait()
                for device in others + [device] { device.proxy.retarget(port: port) }
            } catch {
                state.withLock { $0.failure = error }
            }
            let isProven =
                end == .signal(SIGKILL) && status == 200 && device.proxy.counts.repliesWithheld == 1
            add(
                "The service is killed while the reply of upload \(number) is withheld",
                "process \(old) \(Self.words(end)), \(device.proxy.counts.repliesWithheld) reply withheld and lost; "
                    + "again as process \(server.process?.id ?? 0)", happened: isProven)
            device.proxy.drop(exchange.number)
        }
    }

    /// From here on the next reply with changes of a zone is cut in its middle.
    func cutNextPage(to device: TodoDevice) {
        let isCut = Lock(false)
        device.proxy.plan { exchange in
            guard exchange.path.hasSuffix("/changes/zone"), !isCut.withLock({ $0 }) else { return .pass }
            isCut.withLock { $0 = true }
            return .cutReply(afterBytes: 400)
        }
    }

    func noteCut(_ device: TodoDevice) {
        let counts = device.proxy.counts
        add(
            "The laptop's link is cut in mid-reply",
            "the proxy cut \(counts.repliesCut) reply after 400 bytes of a page of changes",
            happened: counts.repliesCut == 1)
    }

    /// - Throws: What went wrong without being meant to.
    func check() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    static func words(_ end: Program.End) -> String {
        switch end {
        case .exit(let code): "exited with \(code)"
        case .signal(let number): "ended by signal \(number)"
        }
    }
}
