/// How a response tells of the files that its records hold: a service keeps something else in a record than it tells,
/// and an address expires.
package struct AssetForm: Sendable {
    let told: @Sendable (_ kept: Asset, _ zoneID: ZoneID?) -> Asset

    /// Makes a form.
    ///
    /// - Parameter told: what is written in the place of an asset; the zone is that of the record it stands in.
    package init(_ told: @escaping @Sendable (_ kept: Asset, _ zoneID: ZoneID?) -> Asset) {
        self.told = told
    }
}
