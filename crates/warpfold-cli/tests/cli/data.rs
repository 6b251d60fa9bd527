//! Columns of Parquet and Arrow files. Expected values are Python's, by `math.fsum` and `fractions`, of the formulas in warpfold-arrow's
//! `tests/fixtures/make.py`.

#[cfg(not(feature = "parquet"))]
#[test]
fn data_need_a_feature() {
    use crate::program::{Folder, run};

    let folder = Folder::new();
    let path = folder.file("x.parquet", [1, 2]);
    for options in [&["--column", "a"][..], &["--dtype", "u8"], &["--world"]] {
        run(["sum", &path].iter().chain(options)).fails(2, &["x.parquet", "--features parquet"]);
    }
    run(["sum", "nowhere/*.arrow"]).fails(2, &["*.arrow", "--features parquet"]);
    run(["sum", "--random", "5", "--out", "x.parquet"]).fails(2, &["--out", "--features parquet"]);
    // Whoever insists gets what the bytes say.
    assert_eq!(run(["sum", &path, "--input", "raw", "--dtype", "u8"]).kept(), "3");
}

#[cfg(feature = "parquet")]
pub(crate) mod with {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;

    use crate::program::{Folder, Run, run, shell};

    pub(crate) fn fixture(name: &str) -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../warpfold-arrow/tests/fixtures");
        path.join(name).to_str().expect("UTF-8").into()
    }

    pub(crate) fn of(name: &str, args: &[&str]) -> Run {
        run([args[0], &fixture(name)].iter().chain(&args[1..]))
    }

    pub(crate) const ORDERS: &str = "pyarrow-snappy.parquet";

    #[test]
    fn one_result_of_every_kind_of_column() {
        for name in [ORDERS, "polars.parquet", "lz4.feather", "polars.arrow", "stream.arrows"] {
            for (op, column, expected) in [
                ("sum", "price", "53375.125"),
                ("sum", "1", "53375.125"),
                ("mean", "price", "62.28135939323221"),
                ("minmax", "count", "-500 2497"),
                ("argmax", "price", "1"),
                ("sum", "cost", "30206.54"),
                ("mean", "cost", "33.97811023622047"),
                ("max", "day", "2024-03-02"),
                ("minmax", "at", "2024-02-28T00:00:00Z 2024-02-28T00:16:39Z"),
                ("sum", "flag", "334"),
            ] {
                for threads in ["1", "2"] {
                    let found = of(name, &[op, "--column", column, "--threads", threads]);
                    assert_eq!(found.kept(), expected, "{op} of {column} in {name}");
                }
            }
        }
        assert_eq!(of(ORDERS, &["sum", "--column", "cost", "--as", "f64"]).kept(), "30206.54");
        assert_eq!(
            of(ORDERS, &["sum", "--column", "big", "--as", "f64"]).kept(),
            "1.8446744073709552e22"
        );
        // A file of one column needs no name.
        let folder = Folder::new();
        fs::copy(fixture("pyarrow-zstd.parquet"), folder.at("x.parquet")).unwrap();
        let zstd = run([Path::new("sum"), &folder.at("x.parquet")]);
        match cfg!(feature = "zstd") {
            true => assert_eq!(zstd.kept(), "53375.125"),
            false => zstd.fails(1, &["zstd", "feature zstd"]),
        }
    }

    #[test]
    fn formats_and_files_of_one_result() {
        let json = of(ORDERS, &["mean", "--column", "price", "--format", "json"]);
        let json: serde_json::Value = serde_json::from_str(json.kept()).expect("JSON");
        assert_eq!(
            (&json["n"], &json["dtype"], &json["value"]),
            (&857.into(), &"f64".into(), &62.28135939323221.into())
        );
        assert_eq!(json["bits"], "0x404f240395a82d68");
        let json = of(ORDERS, &["stats", "--column", "at", "--format", "json"]);
        let json: serde_json::Value = serde_json::from_str(json.kept()).expect("JSON");
        assert_eq!(
            (&json["n"], &json["value"]["max"]),
            (&923.into(), &"2024-02-28T00:16:39Z".into())
        );
        assert!(json["value"]["sum"].is_null() && json["result_dtype"]["argmax"] == "u64");
        let csv = of(ORDERS, &["minmax", "--column", "cost", "--format", "csv"]);
        let lines: Vec<&str> = csv.kept().lines().collect();
        assert_eq!(lines[0], "reduction,dtype,n,min,max,accuracy,device,seconds");
        assert!(
            lines[1].starts_with("minmax,\"Decimal128(20, 2)\",889,-1.00,68.93,exact,cpu,"),
            "{}",
            lines[1]
        );
        let stats = of(ORDERS, &["stats", "--column", "cost"]);
        assert!(
            stats.kept().starts_with("count     889\nnan_count 0\nsum       30206.54\n"),
            "{stats:?}"
        );
        let folder = Folder::new();
        let out = |name: &str| folder.at(name).to_str().expect("UTF-8").to_string();
        assert_eq!(
            of(ORDERS, &["sum", "--column", "price", "--out", &out("x.npy")]).kept(),
            "53375.125"
        );
        assert_eq!(run(["max", &out("x.npy")]).kept(), "53375.125");
        of(ORDERS, &["max", "--column", "day", "--out", &out("d.json")]).kept();
        assert!(fs::read_to_string(out("d.json")).unwrap().contains("\"value\":\"2024-03-02\""));
        of(ORDERS, &["max", "--column", "day", "--out", &out("d.npy")])
            .fails(1, &["NumPy", ".json or .csv"]);
        of(ORDERS, &["sum", "--column", "price", "--out", &out("x.npz")])
            .fails(2, &[".npz", "many results"]);
        assert_eq!(folder.names(), ["d.json", "x.npy"]);
    }

    #[test]
    fn several_files_patterns_and_folders() {
        let parts: Vec<String> =
            (0..4).map(|part| fixture(&format!("parts/part-{part}.parquet"))).collect();
        let named: Vec<&str> =
            [vec!["mean"], parts.iter().map(String::as_str).collect(), vec!["--column", "price"]]
                .concat();
        assert_eq!(run(&named).kept(), "62.28135939323221");
        for name in ["parts/*.parquet", "parts", "parts/part-[0-3].parquet"] {
            assert_eq!(of(name, &["mean", "--column", "price"]).kept(), "62.28135939323221");
            assert_eq!(of(name, &["argmin", "--column", "price"]).kept(), "998");
        }
        let both = run(["sum", &parts[0], &fixture("lz4.feather"), "--column", "count"]);
        // 0 to 249 by threes less 500, without every fifth from the third, and all of them.
        let first: i64 = (0..250).filter(|k| k % 5 != 3).map(|k| k * 3 - 500).sum();
        assert_eq!(both.kept(), (first + 798_200).to_string());
        let verbose = of("parts", &["max", "--column", "count", "--verbose"]);
        assert_eq!((verbose.code, verbose.out.as_str()), (Some(0), "2497\n"));
        for words in [
            "4 files",
            "count of i32",
            "rows: 1000",
            "count: 200 of 1000 rows left out, as they are null",
            "0 row groups",
            "4 known by their statistics",
        ] {
            assert!(verbose.err.contains(words), "{words}: {}", verbose.err);
        }
        of("parts/*.parquet", &["sum", "--column", "kind"])
            .fails(1, &["part-0.parquet", "no column kind", "price, count, shop"]);
        of("none-*.parquet", &["sum"]).fails(1, &["none-*.parquet", "no file matches"]);
        of("none.parquet", &["sum"]).fails(1, &["none.parquet", "no such file"]);
    }

    #[cfg(unix)]
    #[test]
    fn ten_thousand_files() {
        let folder = Folder::new();
        for k in 0..10_000 {
            let part = fixture(&format!("parts/part-{}.parquet", k % 4));
            fs::hard_link(&part, folder.at(&format!("{k:05}.parquet")))
                .or_else(|_| fs::copy(&part, folder.at(&format!("{k:05}.parquet"))).map(drop))
                .expect("writable");
        }
        // Far fewer files may be open at once.
        let sum = shell(&format!(
            "ulimit -n 64; warpfold sum '{}' --column count",
            folder.path().display()
        ));
        assert_eq!(sum.kept(), (798_200i64 * 2500).to_string());
    }

    #[test]
    fn several_columns_are_a_table() {
        let sums =
            of(ORDERS, &["sum", "--column", "price", "--column", "count", "--column", "cost"]);
        assert_eq!(sums.kept(), "price 53375.125\ncount 798200\ncost 30206.54");
        let means = of(ORDERS, &["mean", "--column", "*", "--format", "csv"]);
        assert_eq!(
            means.kept(),
            "column,mean\nprice,62.28135939323221\ncount,997.75\nbig,1.8446744073709552e19\nhalf,7.7552257\ncost,33.97811023622047"
        );
        let json =
            of(ORDERS, &["sum", "--column", "price", "--column", "cost", "--format", "json"]);
        let json: serde_json::Value = serde_json::from_str(json.kept()).expect("JSON");
        assert_eq!(json["sum"], serde_json::json!([53375.125, "30206.54"]));
        assert_eq!(json["result_dtype"]["sum"], serde_json::json!(["f64", "decimal128(38, 2)"]));
        // One column that fails is named.
        of(ORDERS, &["sum", "--column", "*"]).fails(1, &["column big", "18446744073709551115500"]);
        let folder = Folder::new();
        let out = folder.at("m.npy");
        let out = out.to_str().expect("UTF-8");
        assert!(
            of(ORDERS, &["mean", "--column", "price", "--column", "count", "--out", out])
                .kept()
                .contains("2 results")
        );
        assert_eq!(run(["max", out]).kept(), "997.75");
    }

    #[test]
    fn what_has_no_result_may_be_no_error() {
        let folder = Folder::new();
        let text = folder.file("t.csv", "k,j,v\n1,5,2\n1,6,4\n2,5,8\n");
        for name in ["p.parquet", "p.arrow"] {
            let path = folder.at(name).to_string_lossy().into_owned();
            let by = ["--column", "v", "--by", "k", "--by", "j", "--out", &path];
            run([&["sum", &text][..], &by].concat()).kept();
            let var = |more: &[&str]| run([&["var", &path, "--column", "sum"], more].concat());
            let by_key = |more: &[&str]| var(&[&["--by", "k", "--ddof", "1"], more].concat());
            by_key(&[]).fails(1, &["group 2", "var with ddof = 1"]);
            assert_eq!(by_key(&["--empty", "none"]).value(), "1 2.0\n2 -");
            assert_eq!(by_key(&["--empty", "nan"]).value(), "1 2.0\n2 NaN");
            let both = by_key(&["--column", "j", "--empty", "none", "--format", "csv"]);
            assert_eq!(both.value(), "k,sum,j\n1,2.0,0.5\n2,,");
            // Columns as a whole.
            let max = ["max", &path, "--column", "sum", "--by", "k", "--empty", "none"];
            assert_eq!(run(max).value(), "1 4.0\n2 8.0");
            let whole = |empty| var(&["--column", "j", "--ddof", "3", "--empty", empty]);
            assert_eq!(whole("nan").value(), "sum NaN\nj NaN");
            assert_eq!(whole("none").value(), "sum -\nj -");
            var(&["--empty", "none"]).fails(2, &["--empty", "several columns"]);
        }
    }

    #[test]
    fn groups_by_another_column() {
        let means = "shop 0 62.19103773584906\nshop 1 47169811320817.03\nshop 2 -46948356807449.71\nshop 3 62.66745283018868\n- 60.34375";
        for name in [ORDERS, "parts", "polars.arrow"] {
            let args = ["mean", "--column", "price", "--by", "shop"];
            assert_eq!(of(name, &args).kept(), means, "{name}");
        }
        let flags = of(ORDERS, &["sum", "--column", "price", "--by", "flag"]);
        assert_eq!(flags.kept(), "false 35500.0\ntrue 17875.125");
        let flags = of(ORDERS, &["argmax", "--column", "price", "--by", "flag", "--flat"]);
        assert_eq!(flags.kept(), "false 1\ntrue 999");
        let days = of(ORDERS, &["sum", "--column", "cost", "--by", "day", "--format", "csv"]);
        assert_eq!(
            days.kept(),
            "key,sum\n2024-02-28,1712.73\n2024-02-29,5593.81\n2024-03-01,9526.39\n2024-03-02,13373.61"
        );
        let json = of(ORDERS, &["sum", "--column", "price", "--by", "shop", "--format", "json"]);
        let json: serde_json::Value = serde_json::from_str(json.kept()).expect("JSON");
        assert_eq!(json["key"], serde_json::json!(["shop 0", "shop 1", "shop 2", "shop 3", null]));
        assert_eq!((&json["n"], &json["sum"][4]), (&857.into(), &482.75.into()));
        let folder = Folder::new();
        let out = |name: &str| folder.at(name).to_str().expect("UTF-8").to_string();
        let by_number =
            of(ORDERS, &["sum", "--column", "price", "--by", "big", "--out", &out("g.npz")]);
        assert!(by_number.kept().contains("857 results"), "{by_number:?}");
        of(ORDERS, &["sum", "--column", "price", "--by", "shop", "--out", &out("w.npz")])
            .fails(1, &["NumPy", "key", ".csv"]);
        of(ORDERS, &["sum", "--column", "big", "--by", "kind"])
            .fails(1, &["even", "9223372036854775558000"]);
    }

    /// The sum of `count`, by the formulas of the fixtures, for each combination of shop, day and flag; none after all words.
    fn counts() -> BTreeMap<(String, u32, bool), i64> {
        let mut sums = BTreeMap::new();
        for k in (0..1000).filter(|k| k % 5 != 3) {
            let shop = if k % 101 == 3 { "~none".into() } else { format!("shop {}", k % 4) };
            *sums.entry((shop, k / 250, k % 3 == 0)).or_default() += i64::from(k) * 3 - 500;
        }
        sums
    }

    const DAYS: [&str; 4] = ["2024-02-28", "2024-02-29", "2024-03-01", "2024-03-02"];

    const SEVERAL: [&str; 9] =
        ["sum", "--column", "count", "--by", "shop", "--by", "9", "--by", "flag"];

    #[test]
    fn groups_by_several_columns() {
        let rows = |none: &str, between: &str| -> Vec<String> {
            let row = |((shop, day, flag), sum): ((String, u32, bool), i64)| {
                let shop = if shop == "~none" { none.into() } else { shop };
                [shop, DAYS[day as usize].into(), flag.to_string(), sum.to_string()].join(between)
            };
            counts().into_iter().map(row).collect()
        };
        for name in [ORDERS, "polars.arrow", "stream.arrows", "lz4.feather"] {
            for threads in ["1", "2"] {
                let found = of(name, &[&SEVERAL[..], &["--threads", threads]].concat());
                assert_eq!(found.kept().lines().collect::<Vec<_>>(), rows("-", " "), "{name}");
            }
        }
        let csv = of(ORDERS, &[&SEVERAL[..], &["--format", "csv"]].concat());
        let lines: Vec<&str> = csv.kept().lines().collect();
        // A column that was named by its number has its own name.
        assert_eq!(lines[0], "shop,day,flag,sum");
        assert_eq!(lines[1..], rows("", ","));
        let json = of(ORDERS, &[&SEVERAL[..], &["--format", "json"]].concat());
        let json: serde_json::Value = serde_json::from_str(json.kept()).expect("JSON");
        assert_eq!(json["keys"]["shop"][0], "shop 0");
        assert_eq!(json["keys"]["flag"].as_array().map(Vec::len), Some(counts().len()));
        assert!(json["keys"]["shop"].as_array().unwrap().last().unwrap().is_null());
        // Indices count all rows.
        let first =
            of(ORDERS, &["argmin", "--column", "price", "--by", "kind", "--by", "flag", "--flat"]);
        assert_eq!(first.kept(), "even false 998\neven true 0\nodd false 5\nodd true 9");
        // A result's own name is not given to a key.
        let named = of(
            ORDERS,
            &["count", "--column", "price", "--by", "count", "--by", "kind", "--format", "csv"],
        );
        assert!(
            named.kept().starts_with("count_key,kind,count\n-500,even,0\n-497,odd,1\n"),
            "{}",
            named.out
        );
        of(ORDERS, &[&SEVERAL[..], &["--plot"]].concat()).fails(2, &["--plot", "one --by"]);
    }

    #[test]
    fn results_as_parquet_and_arrow() {
        let folder = Folder::new();
        let out = |name: &str| folder.at(name).to_str().expect("UTF-8").to_string();
        for name in ["m.parquet", "m.arrow"] {
            let path = out(name);
            let reported = of(ORDERS, &[&SEVERAL[..], &["--out", &path]].concat());
            assert_eq!(
                reported.kept(),
                format!("sum of i32: {} results in {path}", counts().len())
            );
            assert_eq!(run(["sum", &path, "--column", "sum"]).kept(), "798200");
            assert_eq!(run(["max", &path, "--column", "day"]).kept(), "2024-03-02");
            // Groups of groups: keys kept their types, none among them.
            let mut shops: BTreeMap<String, i64> = BTreeMap::new();
            for ((shop, _, flag), sum) in counts() {
                if flag {
                    *shops.entry(shop).or_default() += sum;
                }
            }
            let again = run(["sum", &path, "--column", "sum", "--by", "flag", "--by", "shop"]);
            let lines: Vec<&str> = again.kept().lines().skip(shops.len()).collect();
            let expected: Vec<String> = shops
                .iter()
                .map(|(shop, sum)| format!("true {} {sum}", shop.replace("~none", "-")))
                .collect();
            assert_eq!(lines, expected);
        }
        let columns = |path: &str| {
            let line = run(["sum", path]).err;
            line.split("columns: ")
                .nth(1)
                .and_then(|rest| rest.split(';').next())
                .map(str::to_string)
        };
        // Several columns: one row, each in its own type.
        let path = out("several.parquet");
        of(
            ORDERS,
            &["max", "--column", "price", "--column", "count", "--column", "at", "--out", &path],
        );
        assert_eq!(columns(&path).as_deref(), Some("price, count, at"));
        assert_eq!(run(["max", &path, "--column", "at"]).kept(), "2024-02-28T00:16:39Z");
        assert_eq!(run(["max", &path, "--column", "count"]).kept(), "2497");
        let path = out("both.parquet");
        of(ORDERS, &["minmax", "--column", "price", "--column", "cost", "--out", &path]);
        assert_eq!(columns(&path).as_deref(), Some("price_min, price_max, cost_min, cost_max"));
        assert_eq!(run(["sum", &path, "--column", "cost_max"]).kept(), "68.93");
        // One result, statistics of one column, and of an array.
        let path = out("one.arrow");
        assert_eq!(of(ORDERS, &["sum", "--column", "cost", "--out", &path]).kept(), "30206.54");
        assert_eq!(run(["sum", &path]).kept(), "30206.54");
        let path = out("stats.parquet");
        of(ORDERS, &["stats", "--column", "at", "--out", &path]);
        assert_eq!(run(["max", &path, "--column", "max"]).kept(), "2024-02-28T00:16:39Z");
        assert_eq!(run(["sum", &path, "--column", "count"]).kept(), "923");
        let csv = folder.file("x.csv", "a,k\n1,7\n2,8\n4,7\n");
        let path = out("stats.arrow");
        run(["stats", &csv, "--column", "a", "--out", &path]);
        assert_eq!(run(["sum", &path, "--column", "sum"]).kept(), "7.0");
        let path = out("keys.parquet");
        run(["minmax", &csv, "--column", "a", "--by", "k", "--out", &path]);
        assert_eq!(columns(&path).as_deref(), Some("key, min, max"));
        assert_eq!(run(["sum", &path, "--column", "max", "--by", "key"]).kept(), "7 4.0\n8 2.0");
        let path = out("every.parquet");
        run(["sum", &csv, "--every", "3", "--out", &path]);
        assert_eq!(columns(&path).as_deref(), Some("segment, sum"));
        // Nothing is left where there is no result, and what stood there stays.
        let before = fs::read(&path).unwrap();
        of(ORDERS, &["sum", "--column", "big", "--by", "kind", "--by", "flag", "--out", &path])
            .fails(1, &["group even, false", "u64"]);
        of(ORDERS, &["max", "--column", "count", "--column", "count", "--out", &path])
            .fails(1, &["two columns", "count"]);
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    /// pyarrow reads the same types and values, where it is installed.
    #[cfg(unix)]
    #[test]
    fn pyarrow_reads_results() {
        let has = "import pyarrow.parquet";
        let found = std::process::Command::new("python3").args(["-c", has]).output();
        if !found.is_ok_and(|found| found.status.success()) {
            return;
        }
        let folder = Folder::new();
        let (parquet, arrow) = (folder.at("m.parquet"), folder.at("m.arrow"));
        for out in [&parquet, &arrow] {
            of(ORDERS, &[&SEVERAL[..], &["--out", out.to_str().unwrap()]].concat());
        }
        let script = format!(
            "import pyarrow as pa, pyarrow.parquet as pq\n\
             a = pq.read_table('{}')\n\
             b = pa.ipc.open_file('{}').read_all()\n\
             assert a.equals(b)\n\
             print([str(f.type) for f in a.schema], sum(a['sum'].to_pylist()), a['shop'].null_count, max(a['day'].to_pylist()))",
            parquet.display(),
            arrow.display()
        );
        let found = std::process::Command::new("python3").args(["-c", &script]).output().unwrap();
        let none = counts().keys().filter(|(shop, ..)| shop == "~none").count();
        assert_eq!(
            String::from_utf8_lossy(&found.stdout).trim_end(),
            format!("['string', 'date32[day]', 'bool', 'int64'] 798200 {none} 2024-03-02"),
            "{}",
            String::from_utf8_lossy(&found.stderr)
        );
    }
}
