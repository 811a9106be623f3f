// The styles of Operate, in the order they stand in the cascade; see styles/index.ts. Artifacts show rehearsals too.

import './OperatePage.css';
import './rows.css';
import './parts.css';
import './Decisions.css';
import './Runs.css';
import './PatchPage.css';
import './DecisionCard.css';
import './Changes.css';
import './stops.css';
import './Checks.css';
import './Rehearsal.css';
import './SideBySide.css';
import './Watching.css';
import './RunPage.css';
import './StepCard.css';
import './Replay.css';
