import System

/// Faults that a seed alone decides: the n-th answer is the same in every run.
package final class SeededFaults: Sendable {
    /// How many of a thousand exchanges have which fault; the rest pass.
    package struct Mix: Sendable {
        package var loseRequestPerMille = 50
        package var cutRequestPerMille = 30
        package var duplicateRequestPerMille = 50
        package var delayRequestPerMille = 50
        package var dropReplyPerMille = 50
        package var cutReplyPerMille = 50
        /// The longest delay.
        package var delayMillisecondsMax = 20
        /// The most bytes that a cut lets pass.
        package var cutBytesMax = 600

        package init() {}
    }

    private struct State {
        var isOn = true
    }

    private let mix: Mix
    private let random: SeededRandomSource
    private let state = Lock(State())

    package init(seed: UInt64, mix: Mix = Mix()) {
        self.mix = mix
        random = SeededRandomSource(seed: seed)
    }

    /// The next exchange's fault.
    package func next() -> Fault {
        // Three draws whatever comes of them, so that one fault's kind does not move the later ones.
        state.withLock { state in
            let kind = random.next(in: 0..<1000)
            let bytes = random.next(in: 0..<max(1, mix.cutBytesMax + 1))
            let milliseconds = random.next(in: 0..<max(1, mix.delayMillisecondsMax + 1))
            return state.isOn ? fault(kind, bytes: bytes, milliseconds: milliseconds) : .pass
        }
    }

    /// From here on everything passes.
    package func end() {
        state.withLock { $0.isOn = false }
    }

    private func fault(_ kind: Int, bytes: Int, milliseconds: Int) -> Fault {
        var rest = kind
        let choices: [(Int, Fault)] = [
            (mix.loseRequestPerMille, .loseRequest),
            (mix.cutRequestPerMille, .cutRequest(afterBytes: bytes)),
            (mix.duplicateRequestPerMille, .duplicateRequest),
            (mix.delayRequestPerMille, .delayRequest(milliseconds: milliseconds)),
            (mix.dropReplyPerMille, .dropReply),
            (mix.cutReplyPerMille, .cutReply(afterBytes: bytes)),
        ]
        for (perMille, fault) in choices {
            if rest < perMille { return fault }
            rest -= perMille
        }
        return .pass
    }
}
