//! The file that a name which names none was most likely meant for.

use std::fs;
use std::path::Path;

/// Entries of a folder that are looked at.
const ENTRIES: usize = 10_000;

/// The name of a file in the same folder that differs least, and little.
pub fn nearest(path: &Path) -> Option<String> {
    let wanted: Vec<char> = path.file_name()?.to_str()?.to_lowercase().chars().collect();
    // Of short names one letter may differ, of long ones a few.
    let most = (wanted.len() / 4).clamp(1, 3);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let distance = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let letters: Vec<char> = name.to_lowercase().chars().collect();
        let is_near = letters.len().abs_diff(wanted.len()) <= most;
        let distance = is_near.then(|| changes(&wanted, &letters)).filter(|&d| d <= most)?;
        entry.path().is_file().then_some((distance, name))
    };
    let near = entries.flatten().take(ENTRIES).filter_map(distance).min()?;
    Some(folder.map_or(near.1.clone(), |folder| folder.join(&near.1).display().to_string()))
}

/// The name among some that differs least from a word, and little.
pub fn near<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = word.to_lowercase().chars().collect();
    let most = (wanted.len() / 4).clamp(1, 3);
    let distance = |name: &'a str| {
        let letters: Vec<char> = name.to_lowercase().chars().collect();
        let is_near = letters.len().abs_diff(wanted.len()) <= most;
        let distance = is_near.then(|| changes(&wanted, &letters))?;
        // Of a word of a letter or two nothing would be left.
        (distance <= most && distance < wanted.len()).then_some((distance, name))
    };
    Some(names.filter_map(distance).min()?.1)
}

/// Letters that are put in, left out, changed, or in the place of their neighbour.
fn changes(a: &[char], b: &[char]) -> usize {
    let mut rows = [vec![0; b.len() + 1], vec![0; b.len() + 1], (0..=b.len()).collect::<Vec<_>>()];
    for (i, x) in a.iter().enumerate() {
        rows.rotate_left(1);
        let [before, last, row] = &mut rows;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            row[j + 1] = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
    }
    rows[2][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_counted() {
        let of = |a: &str, b: &str| {
            changes(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
        };
        for (a, b, expected) in [
            ("", "", 0),
            ("abc", "", 3),
            ("sales.csv", "sales.cvs", 1),
            ("sales.csv", "sale.csv", 1),
            ("kitten", "sitting", 3),
            ("ab", "ba", 1),
        ] {
            assert_eq!((of(a, b), of(b, a)), (expected, expected), "{a} {b}");
        }
    }

    #[test]
    fn the_nearest_name_is_found() {
        let names = ["price", "qty", "Shop", "shop_id", "x"];
        let of = |word: &str| near(word, names.into_iter());
        assert_eq!(
            (of("prize"), of("pirce"), of("PRICE")),
            (Some("price"), Some("price"), Some("price"))
        );
        assert_eq!((of("shop"), of("quantity"), of("y"), of("")), (Some("Shop"), None, None, None));
    }

    #[test]
    fn the_nearest_file_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["sales.csv", "sales-2.csv", "x.npy"] {
            fs::write(folder.path().join(name), "1\n").expect("it is written");
        }
        fs::create_dir(folder.path().join("sales.cs")).expect("a folder in it");
        let of = |name: &str| {
            let path = folder.path().join(name);
            nearest(&path).map(|near| near.rsplit('/').next().unwrap_or_default().to_string())
        };
        assert_eq!(of("sales.cvs").as_deref(), Some("sales.csv"));
        assert_eq!(of("Sale.csv").as_deref(), Some("sales.csv"));
        assert_eq!(of("y.npy").as_deref(), Some("x.npy"));
        assert_eq!((of("prices.csv"), of("z.npz")), (None, None));
        assert_eq!(nearest(Path::new("nowhere/at/all.csv")), None);
    }
}
