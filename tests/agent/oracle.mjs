// Answers what the real Pi agent makes of session files: one JSON request a line on standard input, one JSON answer a
// line on standard output, until the input ends. `node oracle.mjs FOLDER`, where FOLDER holds Pi's node_modules.
//
//   {"op": "session", "path": FILE}            the session at its own leaf
//   {"op": "session", ..., "leaf": ID | null}  with the leaf moved there (null: before the first entry)
//   {"op": "session", ..., "leafAt": N}        with the leaf moved to the N-th entry (version 1 files have no ids)
//   {"op": "list", "dir": DIR}                 the sessions Pi lists for a flat folder
//   {"op": "script", "dir": DIR, "start": {...}, "steps": [...]}   what calls of SessionManager lead to, see `script`
//   {"op": "places", "cwd": CWD, "dir": DIR}   the sessions of a working directory, the one to continue; DIR is optional
//   {"op": "span", "path": FILE, "leaf": ID, "target": ID}   what a move from leaf to target leaves, as Pi summarizes it
//   {"op": "everything"}                       the files of all sessions in the default root
//   {"op": "search", "dir": DIR, "query": TEXT, "sort": "relevance" | "recent"}   ids of those that match, in order
//   {"op": "keybindings", "path": FILE}        what Pi makes of a keybindings.json: the keys of every action
//   {"op": "pressed", "sequences": [TEXT], "keys": [KEY]}   which of the keys each sequence is
//   {"op": "threaded", "dir": DIR}             paths and levels of the sessions in Pi's threaded list
//
// What goes wrong inside Pi is answered as {"error": MESSAGE}. Pi repairs and migrates the files it opens, so it gets
// copies.
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const FILTERS = ["default", "no-tools", "user-only", "labeled-only", "all"];
const packages = join(process.argv[2], "node_modules", "@earendil-works");
const load = (...parts) => import(pathToFileURL(join(packages, ...parts)).href);
const { SessionManager } = await load("pi-coding-agent", "dist/core/session-manager.js");
const { collectEntriesForBranchSummary, prepareBranchEntries } = await load(
  "pi-coding-agent",
  "dist/core/compaction/branch-summarization.js",
);
const { computeFileLists } = await load("pi-coding-agent", "dist/core/compaction/utils.js");
const interactive = (...parts) => load("pi-coding-agent", "dist/modes/interactive", ...parts);
const { TreeSelectorComponent } = await interactive("components/tree-selector.js");
const { filterAndSortSessions } = await interactive("components/session-selector-search.js");
const { SessionSelectorComponent } = await interactive("components/session-selector.js");
const { initTheme } = await interactive("theme/theme.js");
const { KeybindingsManager } = await load("pi-coding-agent", "dist/core/keybindings.js");
const { matchesKey, setKeybindings } = await load("pi-tui", "dist/index.js");
initTheme("dark");
setKeybindings(KeybindingsManager.create());

const nothing = () => {};

/** The rows of Pi's tree as [id, level drawn]: where several roots show, Pi draws them all one level further left. */
function rows(manager, filter) {
  const leaf = manager.getLeafId();
  const component = new TreeSelectorComponent(manager.getTree(), leaf, 40, nothing, nothing, nothing, undefined, filter);
  const list = component.getTreeList();
  const drawn = (indent) => (list.multipleRoots ? Math.max(0, indent - 1) : indent);
  return list.filteredNodes.map(({ node, indent }) => [node.entry.id, drawn(indent)]);
}

function moveLeaf(manager, { leaf, leafAt }) {
  if (leafAt !== undefined) manager.branch(manager.getEntries()[leafAt].id);
  else if (leaf === null) manager.resetLeaf();
  else if (leaf !== undefined) manager.branch(leaf);
}

function describe(manager) {
  const ids = (entries) => entries.map((entry) => entry.id);
  const entryIds = ids(manager.getEntries());
  const labels = entryIds.map((id) => [id, manager.getLabel(id)]).filter(([, label]) => label !== undefined);
  return {
    header: manager.getHeader(),
    leaf: manager.getLeafId(),
    name: manager.getSessionName() ?? null,
    labels: Object.fromEntries(labels),
    entryIds,
    branch: ids(manager.getBranch()),
    contextEntries: ids(manager.buildContextEntries()),
    context: manager.buildSessionContext(),
    trees: Object.fromEntries(FILTERS.map((filter) => [filter, rows(manager, filter)])),
  };
}

/** What `ask` answers about a manager of a copy of a file. */
function ofCopy(path, ask) {
  const scratch = mkdtempSync(join(tmpdir(), "pi-session-"));
  try {
    const copy = join(scratch, basename(path));
    copyFileSync(path, copy);
    return ask(SessionManager.open(copy));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const session = (request) =>
  ofCopy(request.path, (manager) => {
    moveLeaf(manager, request);
    return describe(manager);
  });

const span = ({ path, leaf, target }) =>
  ofCopy(path, (manager) => {
    const { entries, commonAncestorId } = collectEntriesForBranchSummary(manager, leaf, target);
    const { messages, fileOps } = prepareBranchEntries(entries);
    return { ancestor: commonAncestorId, entries: entries.map((entry) => entry.id), messages, ...computeFileLists(fileOps) };
  });

/** The tree as [level, entry, label, when it was labelled], parents before children. */
function outline(roots) {
  const found = [];
  const waiting = roots.map((node) => [0, node]).reverse();
  while (waiting.length) {
    const [level, node] = waiting.pop();
    found.push([level, node.entry, node.label ?? null, node.labelTimestamp ?? null]);
    waiting.push(...node.children.map((child) => [level + 1, child]).reverse());
  }
  return found;
}

function state(manager) {
  const entries = manager.getEntries();
  const file = manager.getSessionFile() ?? null;
  return {
    header: manager.getHeader(),
    sessionId: manager.getSessionId(),
    file,
    stored: file !== null && existsSync(file) && statSync(file).isFile() ? readFileSync(file, "utf8") : null,
    persisted: manager.isPersisted(),
    cwd: manager.getCwd(),
    name: manager.getSessionName() ?? null,
    leaf: manager.getLeafId(),
    leafEntry: manager.getLeafEntry() ?? null,
    entries,
    labels: entries.map((entry) => manager.getLabel(entry.id) ?? null),
    branch: manager.getBranch().map((entry) => entry.id),
    branches: entries.map((entry) => manager.getBranch(entry.id).length),
    children: [null, ...entries.map((entry) => entry.id)].map((id) => manager.getChildren(id).map((child) => child.id)),
    tree: outline(manager.getTree()),
    contextEntries: manager.buildContextEntries().map((entry) => entry.id),
    context: manager.buildSessionContext(),
  };
}

/**
 * Calls methods of one SessionManager one after another and answers the state before the first and after each of
 * them. `start` is {"make": NAME, "with": ARGUMENTS} of the static method that makes it, a step {"do": NAME, "with":
 * ARGUMENTS}, or {"remove": FILE} to put a folder in the place of a file ("folder": false: nothing). Among the arguments, {"$entry": N} stands for the id of the N-th entry (counted round and
 * round; "nowhere" where there is none), {"$file": N} for the N-th session file so far (from the end where negative),
 * {"$dir": NAME} for a path in a folder of its own, {"$undefined": true} for undefined.
 */
function script({ dir, start, steps }) {
  const scratch = mkdtempSync(join(dir, "pi-script-"));
  const files = [];
  let manager;
  const meant = (value) => {
    if (typeof value !== "object" || value === null) return value;
    if ("$undefined" in value) return undefined;
    if ("$entry" in value) {
      const entries = manager.getEntries();
      return entries[value.$entry % entries.length]?.id ?? "nowhere";
    }
    if ("$file" in value) return files.at(value.$file);
    if ("$dir" in value) return join(scratch, value.$dir);
    if (Array.isArray(value)) return value.map(meant);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, meant(inner)]));
  };
  const now = () => {
    const file = manager.getSessionFile();
    if (file !== undefined && !files.includes(file)) files.push(file);
    return state(manager);
  };
  manager = SessionManager[start.make](...meant(start.with));
  const answers = [{ error: null, state: now() }];
  for (const step of steps) {
    let error = null;
    try {
      if (step.remove) {
        rmSync(step.remove);
        if (step.folder ?? true) mkdirSync(step.remove);
      } else manager[step.do](...meant(step.with));
    } catch (thrown) {
      error = String(thrown?.message ?? thrown);
    }
    answers.push({ error, state: now() });
  }
  return answers;
}

async function search({ dir, query, sort }) {
  const found = filterAndSortSessions(await SessionManager.listAll(dir), query, sort);
  return found.map((info) => info.id);
}

/** Pi's list as it stands there when its selector opens: families of forks. */
async function threaded({ dir }) {
  const sessions = await SessionManager.listAll(dir);
  const load = async () => sessions;
  const selector = new SessionSelectorComponent(load, load, nothing, nothing, nothing, nothing);
  await new Promise((resolve) => setTimeout(resolve, 0)); // it takes what it loads in a later turn
  return selector.getSessionList().filteredSessions.map(({ session, depth }) => [session.path, depth]);
}

/** Which sessions Pi lists for a working directory, and which one it would continue, in some folder or its own. */
async function places({ cwd, dir }) {
  const listed = await SessionManager.list(cwd, dir);
  const manager = SessionManager.continueRecent(cwd, dir);
  return { listed: listed.map((info) => info.path), recent: manager.getSessionFile(), dir: manager.getSessionDir() };
}

/** What Pi makes of a keybindings.json: all its actions with their keys. */
function keybindings({ path }) {
  const config = new KeybindingsManager(KeybindingsManager.loadFromFile(path)).getEffectiveConfig();
  return Object.fromEntries(Object.entries(config).map(([id, keys]) => [id, [keys].flat()]));
}

/** Which of the keys Pi takes each sequence for. */
function pressed({ sequences, keys }) {
  return sequences.map((sequence) => keys.filter((key) => matchesKey(sequence, key)));
}

const everything = async () => (await SessionManager.listAll()).map((info) => info.path);

const operations = { session, span, keybindings, pressed, script, search, threaded, places, everything, list: ({ dir }) => SessionManager.listAll(dir) };

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const request = JSON.parse(line);
    answer = JSON.stringify(await operations[request.op](request));
  } catch (error) {
    answer = JSON.stringify({ error: String(error?.message ?? error) });
  }
  process.stdout.write(`${answer}\n`);
}
