import System

/// Whether extensions that another process left behind are being updated because of a read.
final class HealingState: Sendable {
    private let state = Lock((isEnabled: true, isRunning: false))

    /// Whether reads start the update. False in tests that need a fixed order of writes.
    var isEnabled: Bool {
        get { state.withLock { $0.isEnabled } }
        set { state.withLock { $0.isEnabled = newValue } }
    }

    /// Returns true if the caller must start the update.
    func begin() -> Bool {
        state.withLock { state in
            if !state.isEnabled || state.isRunning { return false }
            state.isRunning = true
            return true
        }
    }

    func end() { state.withLock { $0.isRunning = false } }
}

extension YapDatabase {
    /// Updates extensions that another process left behind, on the writing thread, in transactions between which
    /// other writes run. Returns at once.
    func heal() {
        if healing.begin() { healNext() }
    }

    private func healNext() {
        let request = ExclusiveRequest { core in
            try core.alone { _ in }
            return core.store.extensions.contains(where: \.canCatchUp)
        } answer: { [weak self] result in
            guard let self else { return }
            if case .success(true) = result { healNext() } else { healing.end() }
        }
        shell.write(request, writer)
    }
}
