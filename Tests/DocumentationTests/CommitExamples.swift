import Yap

private func commit(_ commit: YapDatabaseCommit, _ todo: Todo) {
    if commit.hasChange(forKey: todo.id, inCollection: "todos") { reload() }
}

private func commits(_ commits: [YapDatabaseCommit], _ shownKeys: [String]) {
    if commits.hasChange(forAnyKeys: shownKeys, inCollection: "todos") { reload() }
}

private func wasMade(_ database: YapDatabase, by editor: YapDatabaseConnection) async {
    for await commit in database.commits where !commit.wasMade(by: editor) { reload() }
}

private func allCommits(_ database: YapDatabase) async {
    for await commit in database.commits where commit.hasChange(inCollection: "todos") { reload() }
}

private func observer(_ database: YapDatabase) {
    let id = database.addCommitObserver { commit in
        if commit.hasChange(inCollection: "todos") { reload() }
    }
    database.removeCommitObserver(id)
}
