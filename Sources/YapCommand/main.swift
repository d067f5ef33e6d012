import Foundation

exit(
    YapProgram.run(
        Array(CommandLine.arguments.dropFirst()),
        Console(
            program: CommandLine.arguments.first ?? "yap",
            environment: ProcessInfo.processInfo.environment)))
