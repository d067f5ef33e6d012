@preconcurrency import Dispatch
import Foundation
import ProcessSupport
import System

/// Leaves nothing behind, however the demo ends: at its end, at Ctrl-C, and when it takes far too long.
final class Cleanup: Sendable {
    private static let secondsMax = 240

    private let folder: URL
    private let keepsFolder: Bool
    private let sources = Lock<[any DispatchSourceProtocol]>([])

    init(folder: URL, keepsFolder: Bool) {
        self.folder = folder
        self.keepsFolder = keepsFolder
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { [self] in run(exitCode: 128 + number) }
            source.activate()
            sources.withLock { $0.append(source) }
        }
        let timer = DispatchSource.makeTimerSource()
        timer.schedule(deadline: .now() + .seconds(Self.secondsMax))
        timer.setEventHandler { [self] in
            print("\nThe demo stopped: it took more than \(Self.secondsMax) seconds")
            run(exitCode: 1)
        }
        timer.activate()
        sources.withLock { $0.append(timer) }
    }

    /// Ends what still runs, and removes the folder.
    ///
    /// - Parameter exitCode: With one, this process ends too, before the story can tell what the end did to it.
    func run(exitCode: Int32? = nil) {
        sources.withLock { sources in
            guard !sources.isEmpty else { return }
            sources = []
            Program.killAll()
            if keepsFolder {
                print("The databases are in \(folder.path)\n")
            } else {
                try? FileManager.default.removeItem(at: folder)
            }
            if let exitCode { exit(exitCode) }
        }
    }
}
