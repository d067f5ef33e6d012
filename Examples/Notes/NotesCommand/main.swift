import Foundation

do {
    try await NotesCall(Array(CommandLine.arguments.dropFirst())).run()
} catch let error as NotesFailure {
    Output.complain("notes: \(error.words)")
    exit(error.isUsage ? 2 : 1)
} catch {
    Output.complain("notes: \(error.localizedDescription)")
    exit(1)
}
