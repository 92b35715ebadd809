# SPDX-License-Identifier: MIT
"""Configurations as sites have published them, reduced to what schedules, for sixteen small nodes and one that is
always drained, for which a job waits: Slurm's loops count their rounds only if they have one to look at.

Each has the parts by which its site schedules, and jobs of the kinds that such a site has:

- tiers: a GPU cluster of a company. Partitions on the same nodes differ in PriorityTier and job factor; processors and
  memory are shared, a task has a core of its own.
- qos: a university department. QOS of different priority with limits for each user, the lowest of which is preempted;
  fair-share with weights for resources; whoever exceeds a partition's limits is refused.
- centre: a computing centre. Two kinds of nodes below switches, a partition over all of them whose jobs are preempted,
  licences, a reservation, arrays and dependencies.
"""

import dataclasses

NODES = 17
USED = "n[01-16]"
USERS = ("daemon", "bin", "sys")
# Slurm's loops look often, and priorities do not change with what jobs have used in a minute.
COMMON = ["PriorityCalcPeriod=01:00:00", "PriorityType=priority/multifactor",
          "PartitionName=drained Nodes=n17 State=UP"]
LOOPS = "bf_interval=1,sched_interval=2,batch_sched_delay=0"
GPUS = ["--file-line", "gres.conf", "Name=gpu File=@DIR@/dev/gpu[0-1]"]


@dataclasses.dataclass(frozen=True)
class Site:
    """What minicluster and sacctmgr are told, and a job's arguments as chance has it."""

    conf: tuple  # lines of slurm.conf
    options: tuple  # of minicluster
    sacctmgr: tuple  # commands
    job: object  # (chance) -> arguments of sbatch
    urgent: tuple  # arguments of those that preempt
    reservation: tuple = ()


def pick(chance, *choices):
    return chance.choice(choices)


def job_of_tiers(chance):
    partition = pick(chance, "high", "normal", "normal", "low", "low", "test", "cpu")
    gpus = [f"--gres=gpu:{chance.randint(1, 2)}"] if partition not in ("test", "cpu") and chance.random() < 0.6 else []
    wide = [["-N2", "-n4"], ["-N3", "--exclusive"]] if partition in ("high", "normal", "low") else []
    size = pick(chance, ["-n1"], ["-n2", "-c2"], ["-n4"], *wide)
    memory = pick(chance, [], ["--mem-per-cpu=100"], ["--mem=500"])
    return ["-p", partition, *gpus, *size, *memory]


def job_of_qos(chance):
    qos = pick(chance, "expedite", "normal", "normal", "undergrad", "scavenger", "scavenger")
    size = pick(chance, ["-n1"], ["-n3"], ["-n4", "--mem-per-cpu=200"], ["-N2", "--ntasks-per-node=2"],
                ["-N4", "--exclusive"], ["-N1", "--gres=gpu:1"])
    return ["-p", "main", f"--qos={qos}", *size, *pick(chance, [], [], ["--nice=50"])]


def job_of_centre(chance):
    partition = pick(chance, "fast", "wide", *4 * ["spare"])
    size = pick(chance, ["-N1"], ["-N1"], ["-N2"], ["-N3", "--switches=1"])
    if partition == "spare" and chance.random() < 0.1:
        size = ["-N9"]
    besides = pick(chance, [], [], [], ["-L", "solver:2"], ["--constraint=new"], ["--reservation=course"],
                   ["--begin=now+1hour"], ["--array=1-3"])
    if "--reservation=course" in besides:
        size = ["-N1"]
    if partition == "wide" and "--constraint=new" in besides or partition == "spare" and "-N9" in size:
        besides = []
    return ["-p", partition, *size, *besides]


ACCOUNTS = [command for number, user in enumerate(USERS)
            for command in (f"add account group{number} fairshare={10 * number + 10}",
                            f"add user {user} account=group{number}")]

SITES = {
    "tiers": Site(
        conf=("SelectTypeParameters=CR_Core_Memory,CR_CORE_DEFAULT_DIST_BLOCK,CR_ONE_TASK_PER_CORE",
              "PriorityDecayHalfLife=2-0", "PriorityWeightFairshare=10000", "PriorityWeightAge=1000",
              "PriorityWeightPartition=100000", "PriorityWeightJobSize=1000", "PriorityMaxAge=1-0",
              "PreemptType=preempt/partition_prio", "PreemptMode=REQUEUE", "EnforcePartLimits=ANY",
              "GresTypes=gpu", "AccountingStorageTRES=gres/gpu", f"SchedulerParameters=default_gbytes,{LOOPS}",
              "DefMemPerCPU=50",
              "PartitionName=high Nodes=n[01-16] MaxTime=INFINITE PriorityJobFactor=40000 PriorityTier=3"
              " PreemptMode=OFF State=UP",
              "PartitionName=normal Nodes=n[01-16] MaxTime=INFINITE PriorityJobFactor=20000 PriorityTier=2"
              " PreemptMode=OFF State=UP",
              "PartitionName=low Nodes=n[01-16] MaxTime=INFINITE PriorityJobFactor=0 PriorityTier=1"
              " PreemptMode=REQUEUE State=UP",
              "PartitionName=test Nodes=n16 MaxTime=10:00:00 PriorityJobFactor=20000 PriorityTier=2"
              " PreemptMode=OFF State=UP",
              "PartitionName=cpu Nodes=n[15-16] MaxTime=INFINITE PriorityTier=1 PreemptMode=OFF State=UP"),
        options=("--node-line", "n[01-14] RealMemory=2000 Gres=gpu:2",
                 "--node-line", "n[15-17] RealMemory=4000", *GPUS),
        sacctmgr=tuple(ACCOUNTS),
        job=job_of_tiers,
        urgent=("-p", "high", "-N2", "--exclusive", "--mem=0")),
    "qos": Site(
        conf=("SelectTypeParameters=CR_ONE_TASK_PER_CORE,CR_Core_Memory", "PreemptType=preempt/qos",
              "PreemptMode=REQUEUE", "PriorityDecayHalfLife=7-0", "PriorityUsageResetPeriod=MONTHLY",
              "PriorityWeightFairshare=10000", "PriorityWeightAssoc=1000", "PriorityWeightQOS=100000",
              "PriorityWeightPartition=10", "PriorityWeightTRES=cpu=2000,mem=1000", "PriorityWeightAge=1000",
              "PriorityWeightJobSize=1000", "EnforcePartLimits=ALL", "GresTypes=gpu", "DefMemPerCPU=50",
              "AccountingStorageTRES=gres/gpu", f"SchedulerParameters={LOOPS},bf_max_job_user=20,bf_continue",
              "PartitionName=main Nodes=n[01-16] MaxTime=INFINITE State=UP"),
        options=("--node-line", "n[01-12] RealMemory=2000 Weight=10", "--node-line",
                 "n[13-17] RealMemory=4000 Weight=50 Gres=gpu:2", *GPUS),
        sacctmgr=(*ACCOUNTS,
                  "add qos scavenger priority=1 preemptmode=requeue MaxSubmitJobsPerUser=500",
                  "add qos undergrad priority=400 preempt=scavenger MaxTRESPerUser=cpu=12",
                  "modify qos normal set priority=500 preempt=scavenger MaxTRESPerUser=cpu=24,gres/gpu=4",
                  "add qos expedite priority=1000 preempt=scavenger MaxTRESPerUser=cpu=20",
                  *(f"modify user {user} set qos=normal,undergrad,scavenger,expedite" for user in USERS)),
        job=job_of_qos,
        urgent=("-p", "main", "--qos=expedite", "-N2", "--exclusive", "--mem=0")),
    "centre": Site(
        conf=("SelectTypeParameters=CR_CPU", "PreemptType=preempt/partition_prio", "PreemptMode=REQUEUE",
              "TopologyPlugin=topology/tree", "Licenses=solver:6", "PriorityWeightFairshare=5000",
              "PriorityWeightAge=1000", "PriorityWeightJobSize=20000", "PriorityWeightPartition=10000",
              f"SchedulerParameters={LOOPS},bf_window=10080,bf_resolution=60,bf_max_job_test=500,assoc_limit_stop",
              "PartitionName=fast Nodes=n[01-08] OverSubscribe=EXCLUSIVE PriorityTier=10 PreemptMode=OFF"
              " MaxTime=INFINITE State=UP",
              "PartitionName=wide Nodes=n[09-16] OverSubscribe=EXCLUSIVE PriorityTier=10 PreemptMode=OFF"
              " MaxTime=INFINITE State=UP",
              "PartitionName=spare Nodes=n[01-16] OverSubscribe=EXCLUSIVE PriorityTier=1 PreemptMode=CANCEL"
              " MaxTime=INFINITE State=UP"),
        options=("--node-line", "n[01-08] Features=new", "--node-line", "n[09-16] Features=old",
                 *(part for line in ("SwitchName=s1 Nodes=n[01-04]", "SwitchName=s2 Nodes=n[05-08]",
                                     "SwitchName=s3 Nodes=n[09-12]", "SwitchName=s4 Nodes=n[13-16]",
                                     "SwitchName=s5 Nodes=n17", "SwitchName=top Switches=s[1-5]")
                   for part in ("--file-line", "topology.conf", line))),
        sacctmgr=tuple(ACCOUNTS),
        job=job_of_centre,
        urgent=("-p", "fast", "-N1"),
        reservation=("ReservationName=course", "Nodes=n03,n11", "StartTime=now", "Duration=1-0",
                     f"Users=root,{','.join(USERS)}")),
}
