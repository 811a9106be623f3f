// The styles of the pages Contexts and Settings, in the order they stand in the cascade; see index.ts.

import './pages.css';
import '../contexts/ContextsPage.css';
import '../contexts/parts.css';
import '../contexts/Documents.css';
import '../contexts/ContextList.css';
import '../contexts/ContextDetail.css';
import '../settings/SettingsPage.css';
