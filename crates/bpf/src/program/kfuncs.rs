//! Functions of the kernel that objects call by name.

macro_rules! kfuncs {
    ($( $kfunc:ident = $name:literal; )*) => {
        /// A function of the kernel.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Kfunc { $( $kfunc ),* }

        impl Kfunc {
            const ALL: &[(Kfunc, &str)] = &[$( (Kfunc::$kfunc, $name) ),*];
        }
    };
}

kfuncs! {
    RenoSsthresh = "tcp_reno_ssthresh";
    RenoCongAvoid = "tcp_reno_cong_avoid";
    RenoUndo = "tcp_reno_undo_cwnd";
    SlowStart = "tcp_slow_start";
    CongAvoidAi = "tcp_cong_avoid_ai";
    CubicInit = "cubictcp_init";
    CubicSsthresh = "cubictcp_recalc_ssthresh";
    CubicCongAvoid = "cubictcp_cong_avoid";
    CubicState = "cubictcp_state";
    CubicEvent = "cubictcp_cwnd_event";
    CubicAcked = "cubictcp_acked";
    DctcpInit = "dctcp_init";
    DctcpUpdate = "dctcp_update_alpha";
    DctcpSsthresh = "dctcp_ssthresh";
    DctcpState = "dctcp_state";
    DctcpEvent = "dctcp_cwnd_event";
    DctcpUndo = "dctcp_cwnd_undo";
}

impl Kfunc {
    pub fn named(name: &str) -> Option<Kfunc> {
        Kfunc::ALL.iter().find(|(_, known)| *known == name).map(|(kfunc, _)| *kfunc)
    }

    pub fn name(self) -> &'static str {
        Kfunc::ALL.iter().find(|(kfunc, _)| *kfunc == self).map_or("", |(_, name)| name)
    }
}
