/// Converts the files of records for a response. A service stores other properties of a file than it sends,
/// and download URLs expire.
package struct AssetForm: Sendable {
    let told: @Sendable (_ kept: Asset, _ zoneID: ZoneID?) -> Asset

    /// Makes a form.
    ///
    /// - Parameter told: Returns the asset to write for a stored asset. `zoneID` is the zone of the asset's
    ///   record.
    package init(_ told: @escaping @Sendable (_ kept: Asset, _ zoneID: ZoneID?) -> Asset) {
        self.told = told
    }
}
