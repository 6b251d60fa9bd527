//! How long customers take that share servers: mean value analysis.
//!
//! A multiprocessor with its resident blocks is a closed network: a block waits by itself for so long (latencies), and asks servers (schedulers, shared memory,
//! memory, whoever starts blocks) for so long each. With one block the time between two completions is the sum of all; with many it is that of the busiest server alone, by
//! Little's law; between, blocks meet in the queues. M. Reiser, S. Lavenberg, *Mean-Value Analysis of Closed Multichain Queuing Networks*, JACM 1980.

/// The time between two completions, of `customers` that each ask every server for its `demands` and wait `latency` elsewhere in turn.
///
/// Customers need not be whole: between two numbers the rate follows the line.
pub fn interval(demands: &[f64], latency: f64, customers: f64) -> f64 {
    let alone = latency + demands.iter().sum::<f64>();
    if customers <= 1.0 {
        return alone / customers.max(1e-9);
    }
    let whole = customers.floor();
    let mut queues = vec![0.0; demands.len()];
    let (mut rate, mut next) = (0.0, 0.0);
    for k in 1..=whole as u64 + 1 {
        // Who arrives finds the queues of a network with one customer less.
        let stays: Vec<f64> = demands.iter().zip(&queues).map(|(d, q)| d * (1.0 + q)).collect();
        next = k as f64 / (latency + stays.iter().sum::<f64>());
        queues = stays.iter().map(|stay| next * stay).collect();
        if k as f64 <= whole {
            rate = next;
        }
    }
    1.0 / (rate + (next - rate) * (customers - whole))
}

#[cfg(test)]
mod tests {
    use super::interval;

    #[test]
    fn one_alone_many_and_between() {
        // By hand: one customer, 10 + 30; the bounds of Little's law; two customers of equal halves (machine repairman).
        assert!((interval(&[10.0], 30.0, 1.0) - 40.0).abs() < 1e-12);
        assert!((interval(&[10.0], 0.0, 7.0) - 10.0).abs() < 1e-12);
        // Two customers: the second finds the first in the queue a quarter of the time: 10 * 1.25 + 30 for two.
        assert!((interval(&[10.0], 30.0, 2.0) - 42.5 / 2.0).abs() < 1e-12);
        let many = interval(&[10.0], 30.0, 1000.0);
        assert!((10.0..10.01).contains(&many), "{many}");
        let half = interval(&[10.0], 30.0, 0.5);
        assert!((half - 80.0).abs() < 1e-12);
        // Two equal servers without waiting: n customers take (n + 1) / n demands each.
        for customers in 1..9 {
            let n = f64::from(customers);
            assert!((interval(&[5.0, 5.0], 0.0, n) - 5.0 * (n + 1.0) / n).abs() < 1e-12);
        }
    }

    #[test]
    fn it_never_beats_its_bounds() {
        for customers in [1.0, 1.5, 3.0, 8.0, 16.0] {
            for (demand, latency) in [(1.0, 0.0), (1.0, 5.0), (3.0, 100.0)] {
                let found = interval(&[demand, 0.0], latency, customers);
                let bound = f64::max(demand, (demand + latency) / customers);
                assert!(found >= bound * 0.999_999, "{customers} {demand} {latency}: {found}");
            }
        }
    }
}
