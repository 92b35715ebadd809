# SPDX-License-Identifier: MIT
"""Urgent jobs that preempt rigid, malleable and deaf ones, at random; and what was lost by that."""

from elastic_live import wait_until

NODES = 16
CONF = ["PreemptType=preempt/elastic_partition_prio", "PreemptMode=REQUEUE",
        f"PartitionName=urgent Nodes=n[01-{NODES}] PriorityTier=10 DefaultTime=1 State=UP",
        "AuthInfo=socket=@DIR@/munge/socket,cred_expire=10"]  # so long a job waits that was requeued, not two minutes
LOOPS = ["SchedulerParameters=bf_interval=1,sched_interval=2,batch_sched_delay=0,bf_resolution=1"]
# A job that does not answer for some seconds after it has begun.
DEAF = "sh -c '{app} & app=$!; sleep 1; kill -STOP $app; sleep {seconds}; kill -CONT $app; wait $app'"


def submit_victim(cluster, program, chance):
    """A job that may be preempted; its id."""
    kind = chance.choices(["rigid", "deaf", "malleable"], [1, 1, 3])[0]
    size = chance.randint(2, 8)
    app = f"{program} {chance.randrange(2**31)} {chance.uniform(4, 12):.1f} 0 0"
    elastic = [] if kind == "rigid" else [f"--elastic=malleable,min=1,max={size}"]
    if kind == "deaf":
        app = DEAF.format(app=app, seconds=6)
    return cluster.sbatch(*elastic, f"-N{size}", "--exclusive", "--requeue", "--time=5", wrap=app)


def submit_urgent(cluster, chance):
    return cluster.sbatch("-p", "urgent", f"-N{chance.randint(1, 6)}", "--exclusive", "--time=1",
                          wrap=f"sleep {chance.uniform(0.5, 2):.1f}")


def run(cluster, program, chance, urgent, victims_for_each=0.6):
    """So many urgent jobs, two at a time, over victims that are many enough; the ids of both."""
    victims, preemptors = [], []
    for number in range(urgent):
        while len(victims) < 6 + number * victims_for_each:
            victims.append(submit_victim(cluster, program, chance))
        preemptors.append(submit_urgent(cluster, chance))
        wait_until(lambda: cluster.run("squeue", "-h", "-p", "urgent", "-o", "%i").out.count("\n") < 2,
                   "there are few urgent jobs", within=60)
    return victims, preemptors


def losses(journal):
    """How many runs of jobs were ended to be begun anew, and the node-seconds that they had had."""
    held, count, lost = {}, 0, 0.0
    for event in journal:
        job, now = event.get("job"), event["time"]
        if event["event"] == "start":
            held[job] = [event["count"], now, 0.0]
        elif event["event"] == "resize" and job in held:
            nodes, since, used = held[job]
            held[job] = [event["to"], now, used + nodes * (now - since)]
        elif event["event"] == "end" and job in held:
            nodes, since, used = held.pop(job)
            if event["state"] in ("REQUEUED", "PREEMPTED"):
                count += 1
                lost += used + nodes * (now - since)
    return count, lost
