/// The sign-in page with tickets that are none, and passwords that are wrong.
struct SignInFlood: Attack {
    let name = "signin"

    func begin(_ abuser: Abuser) -> [Flood] {
        let page = Requests.whole("GET", "/yap/1/sign-in?ticket=x", from: abuser.stranger)
        var guess = 0
        return [
            Flood(abuser, connections: 48) { page },
            Flood(abuser, connections: 4) {
                guess += 1
                let body =
                    #"{"account":"nobody\#(guess)","password":"wrong","container":"\#(Requests.container)","#
                    + #""apiToken":"\#(abuser.requests.apiToken)"}"#
                return Requests.whole("POST", "/yap/1/sign-in", "", Array(body.utf8), from: abuser.stranger)
            },
        ]
    }
}
