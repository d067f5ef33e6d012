import Foundation

do {
    let call = try TodoCall(Array(CommandLine.arguments.dropFirst()))
    if call.wantsHelp {
        Output.write(Help.text(call.command))
        exit(0)
    }
    exit(try await call.run())
} catch let error as TodoFailure {
    Output.complain("todo: \(error.words)")
    exit(error.isUsage ? 2 : 1)
} catch {
    Output.complain("todo: \(error)")
    exit(1)
}
