/// The parent of a view that shows a subset of its rows.
struct ViewParent<Object: Sendable, Group: YapDatabaseViewGroup>: Sendable {
    typealias Part = YapDatabaseViewTransaction<Object, Group>

    let view: YapDatabaseView<Object, Group>

    /// The part of a view's version that describes its parent. If the parent's version changes, the view is filled
    /// again.
    var versionTag: String { versionTag(view.versionTag) }

    /// The same in a write transaction, which may have set another version of the parent.
    var newestVersionTag: String { versionTag(view.newestVersionTag) }

    private func versionTag(_ version: String) -> String {
        "\(type(of: view).className);\(view.name);\(version)"
    }

    /// Returns the parent's place of a row, or nil. The parent is a dependency, so it has handled the change and has
    /// the row's new place.
    func place(_ rowID: Int64, in part: Part) throws -> (group: Group, sort: [UInt8])? {
        let table = try parentPart(of: part).table
        guard let entry = try table.storedEntry(rowID) else { return nil }
        return (try table.group(entry.groupID), entry.sort)
    }

    /// Checks that the registered parent is the one in the view's description.
    ///
    /// - Throws: `YapDatabaseError`: `invalidExtension`.
    func check(_ part: Part) throws {
        let registered = try parentPart(of: part).view
        guard registered.versionTag == view.versionTag, type(of: registered) == type(of: view) else {
            throw YapDatabaseError(
                .invalidExtension,
                "the parent view \"\(view.name)\" of \"\(part.view.name)\" is registered with another version"
            )
        }
    }

    private func parentPart(of part: Part) throws -> Part {
        if let parent = part.parent { return parent }
        throw YapDatabaseError(
            .invalidExtension, "the extension \"\(view.name)\" isn't the parent view of \"\(part.view.name)\""
        )
    }
}
