//! What the system, rather than the driver's library, knows of a GPU: the link it hangs on, the driver's release.

use std::fmt;
use std::fs;

/// A PCI Express link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PcieLink {
    /// 10^9 transfers per second and lane: 32 is PCIe 5.0.
    pub gigatransfers: f64,
    /// Lanes.
    pub lanes: u32,
}

impl PcieLink {
    /// The most that it can carry one way, in bytes per second: one bit a transfer and lane, less the coding (8b/10b up to 5 GT/s, 128b/130b from 8 on).
    pub fn bytes_per_second(&self) -> f64 {
        let coding = if self.gigatransfers < 8.0 { 0.8 } else { 128.0 / 130.0 };
        self.gigatransfers * 1e9 / 8.0 * f64::from(self.lanes) * coding
    }
}

impl fmt::Display for PcieLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PcieLink { gigatransfers, lanes } = self;
        let most = self.bytes_per_second() / 1e9;
        write!(f, "PCIe of {gigatransfers} GT/s on {lanes} lanes, {most:.0} GB/s at most")
    }
}

/// The link of a device by its place on the bus; both ends may be slower while idle, so the highest speed counts.
pub(super) fn link(bus: &str) -> Option<PcieLink> {
    let fact = |name: &str| fs::read_to_string(format!("/sys/bus/pci/devices/{bus}/{name}")).ok();
    parse(&fact("max_link_speed")?, &fact("max_link_width")?)
}

/// `32.0 GT/s PCIe` and `16`.
fn parse(speed: &str, width: &str) -> Option<PcieLink> {
    let gigatransfers: f64 = speed.split_whitespace().next()?.parse().ok()?;
    let lanes: u32 = width.trim().parse().ok()?;
    (gigatransfers > 0.0 && (1..=32).contains(&lanes)).then_some(PcieLink { gigatransfers, lanes })
}

/// The release of the driver's kernel module.
pub(super) fn driver_release() -> Option<String> {
    let release = fs::read_to_string("/sys/module/nvidia/version").ok()?;
    let release = release.trim();
    (!release.is_empty()).then(|| release.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_read_as_linux_writes_it() {
        let link = parse("32.0 GT/s PCIe\n", "16\n").unwrap();
        assert_eq!(link, PcieLink { gigatransfers: 32.0, lanes: 16 });
        assert!((link.bytes_per_second() / 1e9 - 63.0).abs() < 0.1);
        assert_eq!(link.to_string(), "PCIe of 32 GT/s on 16 lanes, 63 GB/s at most");
        let old = parse("5.0 GT/s PCIe", "8").unwrap();
        assert_eq!(old.bytes_per_second(), 4e9);
        assert_eq!(parse("Unknown", "0"), None);
        assert_eq!(parse("8.0 GT/s PCIe", "255"), None);
    }
}
