//! `warpfold report`: one whole page, and what it is made from.

use std::fs;

use crate::program::{Folder, run};

/// Every element that opens closes, and nothing is fetched.
#[track_caller]
fn is_whole(page: &str) {
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    let own = page.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http:", "https:", "src=", "@import", "url(", "<link"] {
        assert!(!own.contains(outside), "{outside:?} asks for something else");
    }
    assert!(!page.contains("{{"), "a part is missing");
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let end = rest.find('>').expect("a tag ends");
        let (tag, after) = (&rest[..end], &rest[end + 1..]);
        rest = after;
        let name = tag.trim_start_matches('/').split([' ', '/', '\n']).next().expect("a name");
        match tag {
            _ if tag.starts_with('!') || name == "meta" || tag.ends_with('/') => {}
            _ if tag.starts_with('/') => assert_eq!(open.pop(), Some(name), "</{name}>"),
            _ => {
                open.push(name);
                if ["script", "style"].contains(&name) {
                    rest = &rest[rest.find(&format!("</{name}>")).expect("it ends")..];
                }
            }
        }
    }
    assert!(open.is_empty(), "{open:?} are left open");
}

/// Everything measured, kept, and made into the same page again; and pages of single files.
#[test]
fn a_page_is_made_again_from_what_was_kept() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name).to_str().expect("UTF-8").to_owned();
    let [first, again, kept] = [at("first.html"), at("again.html"), at("all.json")];
    let made = run([
        "report", "--device", "simt", "--n", "5000", "--type", "i32", "--out", &first, "--export",
        &kept,
    ]);
    assert!(made.value().starts_with(&first), "{made:?}");
    run(["report", "--from", &kept, "--out", &again]).value();
    let [first, again] = [first, again].map(|file| fs::read_to_string(file).expect("a page"));
    assert_eq!(first, again, "nothing but what was kept is in a page");
    is_whole(&first);
    for part in [
        "06_interleaved",
        "What became of the gains",
        "Rung by rung",
        "__syncthreads",
        "replay\" id=\"harris\"",
        "sum of 5000 i32",
    ] {
        assert!(first.contains(part), "{part:?} is missing");
    }

    // A page of one ladder, as `ladder` writes it: no sweeps, no replays, and whole all the same.
    let [ladder, page] = [at("ladder.json"), at("ladder.html")];
    let text = run([
        "ladder", "--device", "simt", "--n", "1000", "--rung", "07", "--rung", "08", "--format",
        "json",
    ]);
    fs::write(&ladder, text.value()).expect("the folder is writable");
    run(["report", "--from", &ladder, "--out", &page]).value();
    let page = fs::read_to_string(page).expect("a page");
    is_whole(&page);
    assert!(
        page.contains("bank conflicts fall from") && !page.contains("<h2 id=\"sweeps\""),
        "{page}"
    );
}

#[test]
fn what_no_page_is_made_from_is_said() {
    let folder = Folder::new();
    let out = folder.at("x.html").to_str().expect("UTF-8").to_owned();
    let fails = |name: &str, text: &str, words: &[&str]| {
        let file = folder.file(name, text);
        run(["report", "--from", &file, "--out", &out]).fails(2, words);
    };
    fails("no.json", "{", &["no.json", "JSON"]);
    fails("other.json", "{\"a\": 1}", &["other.json", "ladder", "--export"]);
    fails("old.json", "{\"rungs\": [], \"schema\": 99}", &["old.json", "layout 99"]);
    fails("none.json", "{\"over\": \"size\"}", &["none.json", "no layout"]);
    fails("half.json", "{\"over\": \"size\", \"schema\": 1}", &["half.json", "missing field"]);
    fails("who.json", "{\"document\": 7, \"schema\": 1}", &["who.json"]);
    assert!(!folder.names().contains(&"x.html".to_owned()), "no page is left behind");
    run(["report", "--from", "/no/such/file"]).fails(2, &["/no/such/file"]);
    run(["report", "--from", "x.json", "--n", "5"]).fails(2, &["--from", "--n"]);
    run(["report", "--device", "cpu"]).fails(2, &["--device cpu"]);
    run(["report", "--out", "/no/such/folder/x.html"]).fails(1, &["/no/such/folder/x.html"]);
}
