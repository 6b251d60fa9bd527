//! [`Polyline`]: points joined by lines, of which no extreme is lost however few columns there are to draw them in.

/// Points by rising places; what is no finite number parts the line.
#[derive(Debug)]
pub(super) struct Polyline {
    points: Vec<(f64, f64)>,
}

impl Polyline {
    pub(super) fn new(points: Vec<(f64, f64)>) -> Polyline {
        Polyline { points }
    }

    pub(super) fn first(&self) -> f64 {
        self.points.first().map_or(0.0, |point| point.0)
    }

    pub(super) fn last(&self) -> f64 {
        self.points.last().map_or(1.0, |point| point.0)
    }

    /// The least and the greatest value.
    pub(super) fn range(&self) -> Option<(f64, f64)> {
        let finite = self.points.iter().map(|point| point.1).filter(|y| y.is_finite());
        finite.fold(None, |range, y| {
            Some(range.map_or((y, y), |(low, high): (f64, f64)| (low.min(y), high.max(y))))
        })
    }

    /// From where to where the line goes within each of so many columns of equal width; `None` where it is not.
    pub(super) fn columns(&self, columns: usize) -> Vec<Option<(f64, f64)>> {
        let mut found: Vec<Option<(f64, f64)>> = vec![None; columns];
        let (first, span) = (self.first(), (self.last() - self.first()).max(f64::MIN_POSITIVE));
        let column = |x: f64| (((x - first) / span * columns as f64) as usize).min(columns - 1);
        let mut take = |at: usize, y: f64| {
            let range = found[at].map_or((y, y), |(low, high)| (low.min(y), high.max(y)));
            found[at] = Some(range);
        };
        for &(x, y) in self.points.iter().filter(|point| point.1.is_finite()) {
            take(column(x), y);
        }
        for pair in self.points.windows(2) {
            let [(x, y), (to, height)] = [pair[0], pair[1]];
            if !(y.is_finite() && height.is_finite()) {
                continue;
            }
            // The line crosses the borders of the columns between the two points.
            for border in column(x) + 1..=column(to) {
                let part = (first + border as f64 / columns as f64 * span - x) / (to - x);
                let y = y + (height - y) * part.clamp(0.0, 1.0);
                take(border - 1, y);
                take(border, y);
            }
        }
        found
    }

    /// No more points than so many, twice over: of each stretch the least and the greatest, in their order.
    pub(super) fn thinned(&self, most: usize) -> Vec<(f64, f64)> {
        if self.points.len() <= most {
            return self.points.clone();
        }
        let stretch = self.points.len().div_ceil(most);
        let ends = |points: &[(f64, f64)]| {
            let finite = || (0..points.len()).filter(|&k| points[k].1.is_finite());
            let by = |&a: &usize, &b: &usize| points[a].1.total_cmp(&points[b].1);
            match (finite().min_by(by), finite().max_by(by)) {
                (Some(low), Some(high)) if low == high => vec![points[low]],
                (Some(low), Some(high)) => vec![points[low.min(high)], points[low.max(high)]],
                _ => points.first().copied().into_iter().collect(),
            }
        };
        self.points.chunks(stretch).flat_map(ends).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_extreme_is_lost() {
        let points: Vec<(f64, f64)> =
            (0..10_000).map(|k| (f64::from(k), f64::from(k % 7))).collect();
        let mut points = points;
        points[4321].1 = 99.0;
        points[8765].1 = -99.0;
        let line = Polyline::new(points);
        assert_eq!(line.range(), Some((-99.0, 99.0)));
        let columns = line.columns(120);
        assert!(columns.iter().all(Option::is_some));
        assert_eq!(columns[4321 * 120 / 9999].map(|range| range.1), Some(99.0));
        assert_eq!(columns[8765 * 120 / 9999].map(|range| range.0), Some(-99.0));
        let thinned = line.thinned(100);
        assert!(thinned.len() <= 200 && thinned.contains(&(4321.0, 99.0)));
        assert!(thinned.contains(&(8765.0, -99.0)) && thinned.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn few_points_are_joined_and_gaps_stay() {
        let line = Polyline::new(vec![(0.0, 0.0), (10.0, 10.0)]);
        let columns = line.columns(5);
        assert_eq!(columns[2], Some((4.0, 6.0)));
        let gap =
            Polyline::new(vec![(0.0, 1.0), (4.0, 1.0), (5.0, f64::NAN), (6.0, 2.0), (10.0, 2.0)]);
        let columns = gap.columns(10);
        assert_eq!(
            (columns[3], columns[5], columns[7]),
            (Some((1.0, 1.0)), None, Some((2.0, 2.0)))
        );
    }
}
