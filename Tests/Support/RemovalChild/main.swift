import CloudStore
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

// Removes a container, or one environment of it, and kills itself before the step of this number.
// Usage: RemovalChild FOLDER CONTAINER ENVIRONMENT|- STEP

func complain(_ text: String) -> Never {
    _ = text.withCString { write(2, $0, strlen($0)) }
    exit(1)
}

let words = CommandLine.arguments
guard words.count == 5, let last = Int(words[4]) else {
    complain("usage: RemovalChild FOLDER CONTAINER ENVIRONMENT|- STEP\n")
}

do {
    let folder = DataFolder(path: words[1])
    let control = try ControlStore(path: folder.controlPath)
    let removal = try control.containers.beginRemoval(
        container: words[2], environment: words[3] == "-" ? nil : words[3])
    let steps = Lock(0)
    let remover = EnvironmentRemover(folder, control) { _ in
        let step = steps.withLock { steps in
            defer { steps += 1 }
            return steps
        }
        if step == last { kill(getpid(), SIGKILL) }
    }
    guard try remover.run(removal) == .done else { complain("in use\n") }
} catch {
    complain("\(error)\n")
}
