// When sleep mode runs, and which of its tasks; each with what it gains and costs.
import type { Known, Schedule } from "@memsvc/client";
import { useEffect, useState } from "react";
import { useAct, useAsked, useMemory } from "../api/memory";
import { useNotices } from "../ui/notices";
import { useTimes } from "../ui/times";
import { useWords } from "../words";

/** The service's words for a task that the user has switched off; others are off by the settings of the service. */
const OWN = "memsvc schedule on sleep";

export function Tasks() {
  const words = useWords();
  const { data, error, again } = useAsked(async (client) => {
    const [tasks, schedules, archive] = await Promise.all([client.listSleepTasks(), client.listSchedules(), client.getArchive()]);
    return { tasks: tasks.items, schedule: schedules.items.find(({ kind }) => kind === "sleep"), forgetting: archive.forgetting };
  }, []);
  if (error && !data) return <p className="said bad" role="alert">{error}</p>;
  if (!data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  return (
    <div className="tasks">
      {data.schedule && <When schedule={data.schedule} onChanged={again} />}
      <ul className="list">
        {data.tasks.map((task) => <TaskRow key={task.name} task={task} forgetting={data.forgetting} onChanged={again} />)}
      </ul>
    </div>
  );
}

function When({ schedule, onChanged }: { schedule: Schedule; onChanged: () => void }) {
  const words = useWords();
  const times = useTimes();
  const { may } = useMemory();
  const act = useAct();
  const { say } = useNotices();
  const [at, setAt] = useState(schedule.at);
  useEffect(() => setAt(schedule.at), [schedule.at]);
  const set = (changes: { enabled?: boolean; at?: string }, back = false) => {
    const body = { at: schedule.at, weekdays: schedule.weekdays, enabled: schedule.enabled, ...changes };
    void act((client) => client.setSchedule({ path: { kind: "sleep" }, body }), () => {
      onChanged();
      const undo = () => set({ at: schedule.at, enabled: schedule.enabled }, true);
      const told = changes.enabled === undefined ? words.night.atSet(body.at) : changes.enabled ? words.night.resumed : words.night.paused;
      say(back ? words.common.undone : told, back ? {} : { action: { label: words.common.undo, act: undo } });
    });
  };
  return (
    <section className="when">
      <p>
        <b>{schedule.enabled ? words.night.runsAt(schedule.at) : words.night.isPaused}</b>{" "}
        <span className="lead">
          {[schedule.weekdays && schedule.weekdays.map((day) => words.night.days[day]).join(", "),
            schedule.enabled && schedule.next_at && words.night.next(times.minute(schedule.next_at)),
            schedule.last_at && words.night.last(times.minute(schedule.last_at))].filter(Boolean).join(" · ")}
        </span>
      </p>
      {may("write") ? (
        <form className="narrow" onSubmit={(event) => {
          event.preventDefault();
          if (at && at !== schedule.at) set({ at });
        }}>
          <label>
            <span>{words.night.at}</span>
            <input type="time" value={at} onChange={(event) => setAt(event.target.value)} required />
          </label>
          {at !== schedule.at && <button type="submit">{words.edit.save}</button>}
          <button type="button" onClick={() => set({ enabled: !schedule.enabled })}>{schedule.enabled ? words.night.pause : words.night.resume}</button>
        </form>
      ) : (
        <p className="lead">{words.common.readOnly}</p>
      )}
    </section>
  );
}

function TaskRow({ task, forgetting, onChanged }: { task: Known; forgetting: boolean; onChanged: () => void }) {
  const words = useWords();
  const { may } = useMemory();
  const act = useAct();
  const { say } = useNotices();
  const told = words.night.tasks[task.name];
  // Forgetting has a switch of its own, which is off unless somebody wants it.
  const on = task.name === "forgetting" ? task.on && forgetting : task.on;
  const bySettings = !task.on && !task.why_off?.startsWith(OWN);
  const turn = (wanted: boolean, back = false) =>
    void act(
      async (client) => {
        if (task.name === "forgetting") await client.switchForgetting({ body: { forgetting: wanted } });
        if (task.name !== "forgetting" || !task.on) await client.switchSleepTask({ path: { task: task.name }, body: { on: wanted } });
      },
      () => {
        onChanged();
        const name = told?.name ?? task.name;
        say(back ? words.common.undone : wanted ? words.night.turnedOn(name) : words.night.turnedOff(name), back ? {} : {
          action: { label: words.common.undo, act: () => turn(!wanted, true) },
        });
      },
    );
  return (
    <li className="task-row">
      <label className="switch">
        <input type="checkbox" role="switch" checked={on} disabled={bySettings || !may("write")} onChange={(event) => turn(event.target.checked)} />
        <span>{told?.name ?? task.name}</span>
      </label>
      <div>
        <p>{told?.gains ?? task.help}</p>
        {told?.costs && <p className="lead">{told.costs}</p>}
        {bySettings && task.why_off && <p className="lead">{words.night.bySettings} <code>{task.why_off}</code></p>}
      </div>
    </li>
  );
}
