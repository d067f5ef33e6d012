// Ready rules for fields of which two devices' changes should both count.

extension CloudFieldDraft {
    /// Merges a list of tags or the like, in which each element stands once and the order means nothing: what either
    /// device added is in it, and what either removed is not.
    ///
    /// ```swift
    /// $0.field(\.tags).mergedAsSet()
    /// ```
    /// Elements keep the other device's order; those added here come last. Texts and numbers are one element when their
    /// bytes are the same: two normal forms of a text are two. Elements of a type of your own are compared by its `==`.
    public func mergedAsSet<Element: Hashable>() where Value == [Element] {
        combined { base, local, remote in
            let (mine, theirs) = (local.map { ExactElement($0) }, remote.map { ExactElement($0) })
            let before = base.map { Set($0.map { ExactElement($0) }) }
            let keeps = Self.keptBySet(before, Set(mine), Set(theirs))
            var seen: Set<ExactElement<Element>> = []
            return (theirs + mine).filter { keeps($0) && seen.insert($0).inserted }.map(\.element)
        }
    }

    /// Merges a set: what either device added is in it, and what either removed is not. A Swift set has one of two
    /// normal forms of a text: this device's stands.
    public func mergedAsSet<Element: Hashable>() where Value == Set<Element> {
        combined { base, local, remote in
            local.union(remote).filter(Self.keptBySet(base, local, remote))
        }
    }

    /// Tells whether an element of `local` or `remote` is in the merged set. Without a `base` nothing was removed.
    private static func keptBySet<Element: Hashable>(
        _ base: Set<Element>?, _ local: Set<Element>, _ remote: Set<Element>
    ) -> (Element) -> Bool {
        { element in
            let isInBoth = local.contains(element) && remote.contains(element)
            return isInBoth || !(base?.contains(element) ?? false)
        }
    }

    /// Merges a list whose order counts, as of the steps of a recipe: the elements that this device added, removed or
    /// moved are added, removed or moved in the other device's list.
    ///
    /// An added element stands behind the one that it was added behind. One that both added stands there once. Elements
    /// are compared as by `mergedAsSet()`.
    public func mergedInOrder<Element: Hashable>() where Value == [Element] {
        combined { base, local, remote in
            let exact = { (list: [Element]) in list.map { ExactElement($0) } }
            return OrderedMerge(exact(base ?? []), exact(local), exact(remote)).list.map(\.element)
        }
    }

    /// Merges a counter: what both devices added to it counts, and what they subtracted, also when both did the same. A
    /// value before that isn't known counts as zero. The sum ends at the largest and the smallest number of the type.
    ///
    /// ```swift
    /// $0.field(\.visits).summed()
    /// ```
    public func summed() where Value: FixedWidthInteger {
        isSum = true
        combined { base, local, remote in
            let (change, isChangeTooLarge) = local.subtractingReportingOverflow(base ?? 0)
            let (sum, isSumTooLarge) = remote.addingReportingOverflow(change)
            guard isChangeTooLarge || isSumTooLarge else { return sum }
            return local > base ?? 0 ? .max : .min
        }
    }

    /// Merges a sum of numbers with fractions as `summed()` does a counter.
    public func summed() where Value: BinaryFloatingPoint {
        isSum = true
        combined { base, local, remote in remote + (local - (base ?? 0)) }
    }
}

/// A list of another device with the changes that were made here.
private struct OrderedMerge<Element: Hashable> {
    private(set) var list: [Element]

    init(_ base: [Element], _ local: [Element], _ remote: [Element]) {
        list = remote
        var theirs: [Element: Int] = [:]
        for case .insert(_, let element, _) in remote.difference(from: base) {
            theirs[element, default: 0] += 1
        }
        let changes = local.difference(from: base)
        for case .remove(_, let element, _) in changes.removals {
            if let index = list.firstIndex(of: element) { list.remove(at: index) }
        }
        for case .insert(let offset, let element, _) in changes.insertions {
            if let count = theirs[element], count > 0 {
                theirs[element] = count - 1
            } else {
                insert(element, behind: local[..<offset])
            }
        }
    }

    /// Inserts behind the last of the elements that is there, or as the first.
    private mutating func insert(_ element: Element, behind before: ArraySlice<Element>) {
        for neighbour in before.reversed() {
            guard let index = list.lastIndex(of: neighbour) else { continue }
            return list.insert(element, at: index + 1)
        }
        list.insert(element, at: 0)
    }
}
