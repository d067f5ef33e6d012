import CloudStore
import HTTPServer

/// A page of the accounts, ordered by name.
struct AccountsPage {
    /// Maximum number of accounts in a page.
    static let accountsMax = 50

    let accounts: [ControlAccount]
    /// The last name of the page if another one follows, otherwise nil.
    let after: String?
}

extension AccountTables {
    /// Reads the page of accounts for the query items `named` and `after` of a request.
    ///
    /// - Throws: `CloudStoreError`.
    func page(_ head: HTTPRequestHead) throws -> AccountsPage {
        let found = try page(
            beginning: head.queryValue("named") ?? "", after: head.queryValue("after") ?? "",
            countMax: AccountsPage.accountsMax + 1)
        let accounts = Array(found.prefix(AccountsPage.accountsMax))
        return AccountsPage(
            accounts: accounts, after: found.count > accounts.count ? accounts.last?.name : nil)
    }

    /// Maximum accounts that are searched for record names, and how many are read at a time.
    private static let accountsTriedMax = 10_000
    private static let accountsReadMax = 500

    /// Finds accounts by the record names of their users. A record name can't be reversed, so the first
    /// accounts are tried one by one.
    ///
    /// - Returns: the accounts by record name, for those among the first 10,000.
    /// - Throws: `CloudStoreError`.
    func find(
        userRecordNames users: Set<String>, in container: String
    ) throws -> [String: ControlAccount] {
        var found: [String: ControlAccount] = [:]
        var (after, triedCount) = ("", 0)
        while found.count < users.count, triedCount < Self.accountsTriedMax {
            let page = try page(beginning: "", after: after, countMax: Self.accountsReadMax)
            for account in page {
                let name = try userRecordName(of: account, container: container)
                if users.contains(name) { found[name] = account }
            }
            guard let last = page.last, page.count == Self.accountsReadMax else { break }
            after = last.name
            triedCount += page.count
        }
        return found
    }
}
