import CloudStore

/// A name that isn't there, told with those that are: most are typing errors.
extension Failure {
    /// - Parameters:
    ///   - what: What has such names: "account".
    ///   - names: Those that are there.
    ///   - place: Where it was looked for, as "in production of iCloud.com.example.todo"; nil: everywhere.
    ///   - remedy: The command that lists them, without the program.
    static func missing(
        _ what: String, named name: String, among names: [String], _ place: String? = nil, remedy: String,
        _ console: Console
    ) -> Failure {
        .notThere(
            "There is no \(what) \(name)\(place.map { " \($0)" } ?? ""). \(Nearest.sentence(names, to: name)). "
                + "See: \(ShellText.word(console.program)) \(remedy)")
    }
}

extension AccountTables {
    /// The account of this name.
    ///
    /// - Throws: `Failure.notThere` with the accounts that are there, the nearest first; `CloudStoreError`.
    func existing(named name: String, _ console: Console) throws -> ControlAccount {
        if let account = try find(named: name) { return account }
        throw Failure.missing(
            "account", named: name, among: try list().map(\.name), remedy: "account list", console)
    }
}
