import Crypto

/// The HTML of the sign-in page. Style and script are inline, and the content security policy allows no others.
enum SignInHTML {
    /// The values shown in a form after an error.
    struct Form {
        let page: SignInPage
        let ticket: String
        let code: String
        var account = ""
        var staysSignedIn = false
        var message: String?
    }

    static func form(_ form: Form) -> String {
        let page = form.page
        let message = form.message.map { "<p class=\"message\" role=\"alert\">\(escaped($0))</p>\n" } ?? ""
        let tag = page.environment == "development" ? " <span class=\"tag\">development</span>" : ""
        return document(
            title: "Sign in",
            """
            <h1>Sign in</h1>
            <p>to use <strong>\(escaped(page.appName))</strong>\(tag)</p>
            \(message)<form method="post" action="\(Route.signInFormPath)">
            <input type="hidden" name="ticket" value="\(escaped(form.ticket))">
            <input type="hidden" name="code" value="\(escaped(form.code))">
            <label for="account">Account</label>
            <input id="account" name="account" value="\(escaped(form.account))" autocomplete="username" \
            autocapitalize="none" spellcheck="false" maxlength="100" required\
            \(form.account.isEmpty ? " autofocus" : "")>
            <label for="password">Password</label>
            <input id="password" name="password" type="password" autocomplete="current-password" \
            maxlength="1024" required\(form.account.isEmpty ? "" : " autofocus")>
            <label class="check" for="stay"><input id="stay" name="stay" value="yes" type="checkbox"\
            \(form.staysSignedIn ? " checked" : "")> Keep me signed in for two weeks</label>
            <div class="buttons"><button name="action" value="sign-in">Sign in</button>
            <button class="quiet" name="action" value="cancel" formnovalidate>Cancel</button></div>
            </form>
            <p class="small">\(escaped(page.receiver)) gets to read and change what you keep in \
            <span class="name">\(escaped(page.container))</span>. It does not learn your password.</p>
            """)
    }

    /// Returns a page with a message.
    static func notice(title: String, _ text: String) -> String {
        document(title: title, "<h1>\(escaped(title))</h1>\n<p>\(escaped(text))</p>")
    }

    /// Returns a page that posts a message to its opener and closes.
    ///
    /// - Parameter staysOpen: true to leave the page open for the user to read.
    static func result(
        title: String, _ text: String, key: String, value: String, origins: [String], staysOpen: Bool = false
    ) -> String {
        document(
            title: title,
            """
            <h1>\(escaped(title))</h1>
            <p>\(escaped(text))</p>
            <div id="result" hidden data-\(key)="\(escaped(value))" \
            data-origins="\(escaped(origins.joined(separator: " ")))"\(staysOpen ? " data-stays" : "")></div>
            <script>\(script)</script>
            """)
    }

    /// Content security policy of the page: show it, run this script, submit the form here and follow its redirect.
    static func policy(runsScript: Bool, leadsTo origin: String? = nil) -> String {
        let script = runsScript ? "script-src '\(hash(script))'; " : ""
        return "default-src 'none'; style-src '\(hash(style))'; \(script)form-action 'self'"
            + (origin.map { " \($0)" } ?? "") + "; base-uri 'none'; frame-ancestors 'none'"
    }

    private static func document(title: String, _ body: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(escaped(title))</title>
        <style>\(style)</style>
        </head>
        <body>
        <main>
        \(body)
        </main>
        </body>
        </html>

        """
    }

    /// Apple's own client reads `ckSession`, but its documents name `ckWebAuthToken`.
    private static let script = """
        (function () {
          var result = document.getElementById("result"), data = result.dataset, message = {};
          result.remove();
          if (data.token) { message.ckSession = data.token; message.ckWebAuthToken = data.token; }
          else { message.errorMessage = data.error; }
          if (!window.opener) { return; }
          data.origins.split(" ").forEach(function (origin) { window.opener.postMessage(message, origin); });
          if (!("stays" in data)) { window.close(); }
        })();
        """

    private static let style = """
        :root { --back: #f2f2f7; --card: #fff; --text: #1c1c1e; --soft: #5b5b62; --line: #c6c6cc; --accent: #0060c8;
          --on: #fff; --alarm: #b3261e; --alarm-back: #fdecea; }
        @media (prefers-color-scheme: dark) { :root { --back: #111113; --card: #1e1e21; --text: #f2f2f7;
          --soft: #a5a5ad; --line: #48484d; --accent: #4da3ff; --on: #06192e; --alarm: #ffb4ab;
          --alarm-back: #45211e; } }
        * { box-sizing: border-box; }
        body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 16px; background: var(--back);
          color: var(--text); font: 16px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
        main { width: 100%; max-width: 400px; padding: 28px; background: var(--card); border-radius: 16px;
          box-shadow: 0 1px 3px rgba(0, 0, 0, .18); }
        h1 { margin: 0 0 4px; font-size: 24px; line-height: 1.2; }
        p { margin: 0 0 16px; overflow-wrap: anywhere; }
        label { display: block; margin: 0 0 6px; font-weight: 600; }
        input:not([type=checkbox]) { display: block; width: 100%; margin: 0 0 16px; padding: 10px 12px; font: inherit;
          color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 10px; }
        input:focus-visible, button:focus-visible { outline: 3px solid var(--accent); outline-offset: 1px; }
        .check { display: flex; gap: 10px; align-items: center; margin: 0 0 20px; font-weight: 400; }
        .check input { flex: none; width: 18px; height: 18px; margin: 0; accent-color: var(--accent); }
        .buttons { display: flex; gap: 12px; }
        button { flex: 1; padding: 11px 16px; font: inherit; font-weight: 600; color: var(--on);
          background: var(--accent); border: 1px solid var(--accent); border-radius: 10px; cursor: pointer; }
        button.quiet { color: var(--accent); background: transparent; border-color: var(--line); }
        .message { padding: 10px 12px; color: var(--alarm); background: var(--alarm-back); border-radius: 10px; }
        .tag { padding: 1px 8px; font-size: 13px; color: var(--soft); border: 1px solid var(--line);
          border-radius: 99px; }
        .small { margin: 20px 0 0; font-size: 13px; color: var(--soft); }
        .name { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 12px; }
        """

    private static func hash(_ text: String) -> String {
        // If the hash fails for lack of memory, the page has no style and no script, which is safe.
        "sha256-\((try? SHA256.hash(text)).map(SignedRequest.base64) ?? "")"
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
