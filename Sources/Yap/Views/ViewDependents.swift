extension ViewDifference {
    /// Returns the rows shown before and after with a changed or replaced neighbour.
    ///
    /// - Parameters:
    ///   - changes: The changes of all rows.
    ///   - offsets: Offsets of a row's dependents from the row.
    func dependents(of changes: [YapDatabaseViewRowChange], at offsets: [Int]) -> Set<Row> {
        guard !offsets.isEmpty else { return [] }
        // A neighbour at a distance changes only if a row up to that distance does.
        let steps = Set(offsets.flatMap { $0 > 0 ? 1...$0 : $0...(-1) })
        var rows: Set<Row> = []
        for change in changes {
            for step in steps {
                let near = [
                    change.original.flatMap { row(atOriginal: $0.moved(by: step)) },
                    change.final.flatMap { row(atFinal: $0.moved(by: step)) },
                ]
                rows.formUnion(near.compactMap { $0 })
            }
        }
        return rows.filter { row in offsets.contains { isNeighbourChanged(of: row, at: -$0) } }
    }

    /// True if a row is shown before and after, and its neighbour at an offset is another row or has a delta.
    private func isNeighbourChanged(of row: Row, at offset: Int) -> Bool {
        guard let original = originalPath(of: row), let final = finalPath(of: row) else { return false }
        let neighbour = self.row(atFinal: final.moved(by: offset))
        if case .changed = neighbour { return true }
        return neighbour != self.row(atOriginal: original.moved(by: offset))
    }
}

extension YapDatabaseViewPath {
    fileprivate func moved(by rows: Int) -> Self { Self(section: section, row: row + rows) }
}
