# Courts, terms and rules of time limits, read by make.py: a sample, no advice.
COURTS = [
    ("upc-coa", "UPC Berufungsgericht", "UPC Court of Appeal", "LU", "appeal", "1 Rue du Fort Thüngen, 1499 Luxembourg"),
    ("upc-cd-paris", "UPC Zentralkammer Paris", "UPC Central Division Paris", "FR", "first_instance", "Paris"),
    ("upc-cd-munich", "UPC Zentralkammer München", "UPC Central Division Munich section", "DE", "first_instance", "Cincinnatistraße 64, 81549 München"),
    ("upc-cd-milan", "UPC Zentralkammer Mailand", "UPC Central Division Milan section", "IT", "first_instance", "Milano"),
    ("upc-ld-munich", "UPC Lokalkammer München", "UPC Local Division Munich", "DE", "first_instance", "Denisstraße 3, 80335 München"),
    ("upc-ld-duesseldorf", "UPC Lokalkammer Düsseldorf", "UPC Local Division Düsseldorf", "DE", "first_instance", "Cecilienallee 3, 40474 Düsseldorf"),
    ("upc-ld-mannheim", "UPC Lokalkammer Mannheim", "UPC Local Division Mannheim", "DE", "first_instance", "Mannheim"),
    ("upc-ld-hamburg", "UPC Lokalkammer Hamburg", "UPC Local Division Hamburg", "DE", "first_instance", "Hamburg"),
    ("upc-ld-paris", "UPC Lokalkammer Paris", "UPC Local Division Paris", "FR", "first_instance", "Paris"),
    ("upc-ld-milan", "UPC Lokalkammer Mailand", "UPC Local Division Milan", "IT", "first_instance", "Milano"),
    ("upc-ld-the-hague", "UPC Lokalkammer Den Haag", "UPC Local Division The Hague", "NL", "first_instance", "Den Haag"),
    ("upc-ld-brussels", "UPC Lokalkammer Brüssel", "UPC Local Division Brussels", "BE", "first_instance", "Bruxelles"),
    ("upc-ld-vienna", "UPC Lokalkammer Wien", "UPC Local Division Vienna", "AT", "first_instance", "Wien"),
    ("upc-rd-nordic-baltic", "UPC Regionalkammer Nordisch-Baltisch", "UPC Nordic-Baltic Regional Division", "SE", "first_instance", "Stockholm"),
    ("lg-muenchen-1", "Landgericht München I", "Regional Court Munich I", "DE", "first_instance", "Prielmayerstraße 7, 80335 München"),
    ("lg-duesseldorf", "Landgericht Düsseldorf", "Regional Court Düsseldorf", "DE", "first_instance", "Werdener Straße 1, 40227 Düsseldorf"),
    ("lg-mannheim", "Landgericht Mannheim", "Regional Court Mannheim", "DE", "first_instance", "A 1, 1, 68159 Mannheim"),
    ("lg-hamburg", "Landgericht Hamburg", "Regional Court Hamburg", "DE", "first_instance", "Sievekingplatz 1, 20355 Hamburg"),
    ("olg-muenchen", "Oberlandesgericht München", "Higher Regional Court Munich", "DE", "appeal", "Prielmayerstraße 5, 80335 München"),
    ("olg-duesseldorf", "Oberlandesgericht Düsseldorf", "Higher Regional Court Düsseldorf", "DE", "appeal", "Cecilienallee 3, 40474 Düsseldorf"),
    ("bgh", "Bundesgerichtshof", "Federal Court of Justice", "DE", "last_instance", "Herrenstraße 45a, 76133 Karlsruhe"),
    ("bpatg", "Bundespatentgericht", "Federal Patent Court", "DE", "first_instance", "Cincinnatistraße 64, 81549 München"),
    ("epo", "Europäisches Patentamt", "European Patent Office", "EP", "office", "Bob-van-Benthem-Platz 1, 80469 München"),
    ("dpma", "Deutsches Patent- und Markenamt", "German Patent and Trade Mark Office", "DE", "office", "Zweibrückenstraße 12, 80331 München"),
]
_UPC = "nach jährlicher Bekanntmachung des Gerichts / as the court announces each year"
VACATIONS = [(c[0], n, _UPC) for c in COURTS if c[0].startswith("upc-") for n in ("Sommer / summer", "Weihnachten / Christmas")]
VACATIONS += [(c[0], "§ 227 Abs. 3 ZPO", "1. Juli – 31. August: Verlegung von Terminen auf Antrag / postponement of hearings on request") for c in COURTS if c[0][:3] in ("lg-", "olg") or c[0] == "bgh"]
VACATIONS += [("epo", "Regel 134 EPÜ", "24. Dezember – 1. Januar, sonst nach Bekanntmachung / else as announced"), ("bpatg", "—", "keine Gerichtsferien / no court vacation"), ("dpma", "—", "24. und 31. Dezember geschlossen / closed")]


def _t(category, text):
    rows = []
    for line in text.strip().splitlines():
        de, en, d1, d2 = (x.strip() for x in line.split("|"))
        rows.append((de, en, d1, d2, category))
    return rows


TERMS = _t("procedure", """
Klageerwiderung|Statement of defence|Schriftsatz, mit dem der Beklagte auf die Klage antwortet.|Pleading in which the defendant answers the statement of claim.
Klageschrift|Statement of claim|Schriftsatz, der das Verfahren einleitet und Antrag und Grund nennt.|Pleading that begins the action and states claim and grounds.
Replik|Reply|Antwort des Klägers auf die Klageerwiderung.|The claimant's answer to the statement of defence.
Duplik|Rejoinder|Antwort des Beklagten auf die Replik.|The defendant's answer to the reply.
Widerklage|Counterclaim|Klage des Beklagten gegen den Kläger im selben Verfahren.|The defendant's own claim against the claimant in the same action.
Nichtigkeitswiderklage|Counterclaim for revocation|Widerklage auf Nichtigerklärung des Klagepatents.|Counterclaim that asks for the patent in suit to be revoked.
Nichtigkeitsklage|Revocation action|Klage, die ein erteiltes Patent für nichtig erklären lassen will.|Action that seeks to have a granted patent revoked.
Verletzungsklage|Infringement action|Klage wegen Benutzung eines Patents ohne Erlaubnis.|Action for use of a patent without permission.
Vorläufiger Einwand|Preliminary objection|Rüge der Zuständigkeit, der Kammer oder der Sprache vor der Erwiderung.|Objection to jurisdiction, division or language before the defence.
Zwischenverfahren|Interim procedure|Abschnitt zwischen Schriftsätzen und mündlicher Verhandlung.|Stage between the written and the oral procedure.
Zwischenanhörung|Interim conference|Besprechung des Berichterstatters mit den Parteien im Zwischenverfahren.|The judge-rapporteur's conference with the parties in the interim procedure.
Mündliche Verhandlung|Oral hearing|Verhandlung vor dem Spruchkörper.|Hearing before the panel.
Berufung|Appeal|Rechtsmittel gegen ein Urteil der ersten Instanz.|Remedy against a judgment of the first instance.
Berufungsbegründung|Statement of grounds of appeal|Schriftsatz, der sagt, warum das Urteil falsch sei.|Pleading that says why the decision is wrong.
Anschlussberufung|Cross-appeal|Berufung des Gegners, die sich an eine eingelegte anschließt.|The respondent's appeal that follows one already lodged.
Revision|Appeal on points of law|Rechtsmittel zum Bundesgerichtshof wegen Rechtsfehlern.|Appeal to the Federal Court of Justice on points of law.
Nichtzulassungsbeschwerde|Complaint against denial of leave to appeal|Beschwerde dagegen, dass die Revision nicht zugelassen wurde.|Complaint that leave to appeal was not granted.
Beschwerde|Complaint (appeal)|Rechtsmittel gegen Beschlüsse.|Remedy against orders.
Einspruch|Opposition|Angriff Dritter auf ein erteiltes Patent beim Amt.|A third party's attack on a granted patent before the office.
Beitritt|Intervention|Eintritt eines Dritten in ein laufendes Verfahren.|A third party's joining of proceedings under way.
Streitverkündung|Third-party notice|Benachrichtigung eines Dritten, an den das Ergebnis wirken soll.|Notice to a third party whom the result shall bind.
Aussetzung|Stay of proceedings|Anhalten des Verfahrens, etwa bis über den Rechtsbestand entschieden ist.|Halting of proceedings, for instance until validity is decided.
Versäumnisurteil|Default judgment|Urteil gegen die Partei, die nicht auftritt oder nicht antwortet.|Judgment against the party that fails to appear or to answer.
Kostenfestsetzung|Cost assessment|Verfahren, in dem die Höhe der Kosten bestimmt wird.|Procedure that settles the amount of costs.
Zustellung|Service|Förmliche Bekanntgabe eines Schriftstücks.|Formal delivery of a document.
Wiedereinsetzung|Re-establishment of rights|Behandlung, als sei eine schuldlos versäumte Frist gewahrt.|Treatment as if a time limit missed without fault had been met.
Weiterbehandlung|Further processing|Fortsetzung der Anmeldung nach versäumter Frist gegen Gebühr.|Continuation of an application after a missed time limit, for a fee.
Fristverlängerung|Extension of time|Späteres Ende einer Frist auf Antrag.|A later end of a time limit on request.
Notfrist|Statutory period that cannot be extended|Frist, die das Gesetz so nennt und die nicht verlängert wird.|Period the law names so, which is not extended.
Vertraulichkeitsantrag|Request for confidentiality|Antrag, den Zugang zu Angaben zu beschränken.|Request to restrict access to information.
""") + _t("remedies", """
Unterlassung|Injunction|Verbot, die Benutzung fortzusetzen.|Prohibition to go on with the use.
Einstweilige Verfügung|Preliminary injunction|Vorläufiges Verbot vor der Entscheidung in der Hauptsache.|Provisional prohibition before the decision on the merits.
Schutzschrift|Protective letter|Vorsorglicher Schriftsatz gegen eine erwartete einstweilige Maßnahme.|Letter lodged in advance against expected provisional measures.
Beweissicherung|Preservation of evidence|Maßnahme, die Beweise vor Verlust bewahrt.|Measure that keeps evidence from being lost.
Besichtigung|Inspection|Augenschein an Erzeugnis, Verfahren oder Ort.|Examination of a product, process or place.
Schadensersatz|Damages|Ausgleich des durch die Verletzung entstandenen Schadens.|Compensation for the harm done by the infringement.
Lizenzanalogie|Licence analogy|Schaden in Höhe einer üblichen Lizenzgebühr.|Damages in the amount of a usual royalty.
Verletzergewinn|Infringer's profits|Schaden in Höhe des Gewinns des Verletzers.|Damages in the amount of the infringer's profit.
Auskunft|Provision of information|Angaben über Herkunft, Vertrieb und Umfang.|Information on origin, distribution and extent.
Rechnungslegung|Rendering of accounts|Geordnete Zusammenstellung der Einnahmen.|Ordered statement of receipts.
Rückruf|Recall|Zurückholen verletzender Erzeugnisse aus den Vertriebswegen.|Taking infringing products back from the channels of commerce.
Vernichtung|Destruction|Zerstörung verletzender Erzeugnisse.|Destroying infringing products.
Sicherheitsleistung|Security|Hinterlegung oder Bürgschaft für einen möglichen Schaden.|Deposit or guarantee for possible harm.
Vollziehung|Enforcement of a provisional order|Umsetzung einer einstweiligen Verfügung durch den Gläubiger.|The creditor's carrying out of a provisional order.
Zwangsgeld|Penalty payment|Geldbetrag, der zu einer Handlung anhalten soll.|Sum meant to compel an act.
""") + _t("patentability", """
Neuheit|Novelty|Die Erfindung gehört nicht zum Stand der Technik.|The invention is not part of the state of the art.
Erfinderische Tätigkeit|Inventive step|Die Erfindung ergibt sich für den Fachmann nicht in naheliegender Weise.|The invention is not obvious to the skilled person.
Stand der Technik|State of the art|Alles, was vor dem Anmelde- oder Prioritätstag öffentlich zugänglich war.|Everything made available to the public before the filing or priority date.
Fachmann|Person skilled in the art|Gedachter Sachkundiger mit durchschnittlichem Wissen.|Notional expert with average knowledge.
Ausführbarkeit|Sufficiency of disclosure|Die Erfindung ist so offenbart, dass der Fachmann sie ausführen kann.|The invention is disclosed so that the skilled person can carry it out.
Unzulässige Erweiterung|Added subject-matter|Gegenstand, der über die ursprüngliche Anmeldung hinausgeht.|Subject-matter that extends beyond the application as filed.
Einheitlichkeit|Unity of invention|Die Anmeldung enthält eine Erfindung oder eine einzige allgemeine Idee.|The application relates to one invention or one general inventive concept.
Klarheit|Clarity|Die Ansprüche sind deutlich und knapp gefasst.|The claims are clear and concise.
Gewerbliche Anwendbarkeit|Industrial application|Die Erfindung kann in einem Gewerbe hergestellt oder benutzt werden.|The invention can be made or used in industry.
Naheliegen|Obviousness|Der Fachmann wäre ohne erfinderisches Zutun dorthin gelangt.|The skilled person would have arrived there without inventive skill.
Nächstliegender Stand der Technik|Closest prior art|Ausgangspunkt für die Prüfung der erfinderischen Tätigkeit.|Starting point for assessing inventive step.
Aufgabe-Lösungs-Ansatz|Problem-solution approach|Prüfung der erfinderischen Tätigkeit über Aufgabe und Lösung.|Assessment of inventive step by problem and solution.
Offenkundige Vorbenutzung|Public prior use|Benutzung vor dem Stichtag, die der Öffentlichkeit zugänglich war.|Use before the relevant date that was available to the public.
Ältere Anmeldung|Earlier application|Früher eingereichte, später veröffentlichte Anmeldung.|Application filed earlier and published later.
Neuheitsschonfrist|Grace period|Zeit vor der Anmeldung, in der eigene Offenbarungen nicht schaden.|Time before filing in which own disclosures do no harm.
""") + _t("prosecution", """
Patentanmeldung|Patent application|Antrag auf Erteilung eines Patents mit Beschreibung und Ansprüchen.|Request for grant of a patent with description and claims.
Priorität|Priority|Zeitrang einer früheren Anmeldung für dieselbe Erfindung.|The rank in time of an earlier application for the same invention.
Teilanmeldung|Divisional application|Anmeldung, die aus einer anhängigen abgetrennt wird.|Application divided out of a pending one.
Patentanspruch|Patent claim|Satz, der den geschützten Gegenstand bestimmt.|Sentence that defines the protected subject-matter.
Hilfsantrag|Auxiliary request|Antrag für den Fall, dass der vorrangige nicht durchdringt.|Request for the case that the higher-ranking one fails.
Prüfungsantrag|Request for examination|Antrag, die Anmeldung sachlich zu prüfen.|Request that the application be examined in substance.
Recherchenbericht|Search report|Zusammenstellung des gefundenen Stands der Technik.|List of the prior art that was found.
Bescheid|Official communication|Schreiben des Amts mit Beanstandungen und Frist.|The office's letter with objections and a time limit.
Erteilung|Grant|Entscheidung, mit der das Patent entsteht.|Decision by which the patent comes into being.
Validierung|Validation|Wirksamwerden eines europäischen Patents in einem Staat.|A European patent's taking effect in a state.
Einheitspatent|Unitary patent|Europäisches Patent mit einheitlicher Wirkung.|European patent with unitary effect.
Einheitliche Wirkung|Unitary effect|Gleiche Wirkung in allen teilnehmenden Mitgliedstaaten.|Equal effect in all participating member states.
Opt-out|Opt-out|Herausnahme eines europäischen Patents aus der Zuständigkeit des UPC.|Taking a European patent out of the UPC's jurisdiction.
Jahresgebühr|Renewal fee|Gebühr, die ein Patent in Kraft hält.|Fee that keeps a patent in force.
Beschränkungsverfahren|Limitation procedure|Einengung der Ansprüche auf Antrag des Inhabers.|Narrowing of the claims at the proprietor's request.
""") + _t("infringement", """
Wortsinngemäße Verletzung|Literal infringement|Alle Merkmale des Anspruchs sind wörtlich verwirklicht.|All features of the claim are realised literally.
Äquivalenz|Equivalence|Verwirklichung mit gleichwirkenden, auffindbaren Mitteln.|Realisation by means that have the same effect and could be found.
Mittelbare Verletzung|Indirect infringement|Lieferung von Mitteln für ein wesentliches Element der Erfindung.|Supply of means relating to an essential element of the invention.
Schutzbereich|Scope of protection|Reichweite des Patents, bestimmt durch die Ansprüche.|The extent of a patent as determined by its claims.
Anspruchsauslegung|Claim construction|Ermittlung des Sinns der Patentansprüche.|Finding the meaning of the claims.
Vorbenutzungsrecht|Right of prior use|Recht dessen, der die Erfindung schon vorher benutzte.|Right of one who had used the invention before.
Erschöpfung|Exhaustion|Ende des Rechts an einem mit Zustimmung in Verkehr gebrachten Erzeugnis.|End of the right in a product put on the market with consent.
Formstein-Einwand|Formstein defence|Die angegriffene Ausführung ist gegenüber dem Stand der Technik nicht patentfähig.|The attacked embodiment would not be patentable over the prior art.
Zwangslizenz|Compulsory licence|Lizenz, die ein Gericht gegen den Willen des Inhabers erteilt.|Licence a court grants against the proprietor's will.
FRAND|FRAND|Faire, angemessene und nicht diskriminierende Lizenzbedingungen.|Fair, reasonable and non-discriminatory licence terms.
Standardessentielles Patent|Standard-essential patent|Patent, das jeder benutzt, der eine Norm umsetzt.|Patent used by everyone who implements a standard.
Versuchsprivileg|Experimental use exemption|Erlaubnis von Handlungen zu Versuchszwecken.|Permission of acts for experimental purposes.
Bolar-Ausnahme|Bolar exemption|Erlaubnis von Studien für eine Arzneimittelzulassung.|Permission of studies for a marketing authorisation.
Ergänzendes Schutzzertifikat|Supplementary protection certificate|Verlängerung des Schutzes für zugelassene Wirkstoffe.|Extension of protection for authorised active ingredients.
Aktivlegitimation|Standing to sue|Berechtigung, aus dem Patent zu klagen.|Right to sue on the patent.
""")


def _r(text):
    return [tuple(x.strip() for x in line.split("|")) for line in text.strip().splitlines()]


RULES = _r("""
UPC-RoP-19.1|Vorläufiger Einwand|Preliminary objection|Zustellung der Klageschrift|service of the statement of claim|1 Monat|1 month|VerfO UPC Regel 19.1
UPC-RoP-23|Klageerwiderung|Statement of defence|Zustellung der Klageschrift|service of the statement of claim|3 Monate|3 months|VerfO UPC Regel 23
UPC-RoP-25|Nichtigkeitswiderklage|Counterclaim for revocation|Zustellung der Klageschrift|service of the statement of claim|3 Monate, mit der Klageerwiderung|3 months, with the statement of defence|VerfO UPC Regeln 23, 25
UPC-RoP-29a|Replik und Erwiderung auf die Nichtigkeitswiderklage|Reply and defence to the counterclaim|Zustellung der Klageerwiderung mit Widerklage|service of the defence with a counterclaim|2 Monate|2 months|VerfO UPC Regel 29(a)
UPC-RoP-29b|Replik|Reply to the statement of defence|Zustellung der Klageerwiderung ohne Widerklage|service of the defence without a counterclaim|2 Monate|2 months|VerfO UPC Regel 29(b)
UPC-RoP-29c|Duplik|Rejoinder|Zustellung der Replik (ohne Widerklage)|service of the reply (no counterclaim)|1 Monat|1 month|VerfO UPC Regel 29(c)
UPC-RoP-29d|Duplik und Replik zur Widerklage|Rejoinder and reply in the counterclaim|Zustellung von Replik und Erwiderung auf die Widerklage|service of reply and defence to the counterclaim|2 Monate|2 months|VerfO UPC Regel 29(d)
UPC-RoP-29e|Duplik zur Widerklage|Rejoinder in the counterclaim|Zustellung der Replik zur Widerklage|service of the reply in the counterclaim|1 Monat|1 month|VerfO UPC Regel 29(e)
UPC-RoP-32.1|Erwiderung auf den Antrag auf Änderung des Patents|Defence to the application to amend|Zustellung des Änderungsantrags|service of the application to amend|2 Monate|2 months|VerfO UPC Regel 32.1
UPC-RoP-32.3|Replik und Duplik zum Änderungsantrag|Reply and rejoinder on the application to amend|Zustellung der Erwiderung oder Replik|service of the defence or reply|je 1 Monat|1 month each|VerfO UPC Regel 32.3
UPC-RoP-49|Erwiderung auf die Nichtigkeitsklage|Defence to revocation|Zustellung der Nichtigkeitsklage|service of the statement for revocation|2 Monate|2 months|VerfO UPC Regel 49.1
UPC-RoP-51|Replik auf die Erwiderung in der Nichtigkeitsklage|Reply to the defence to revocation|Zustellung der Erwiderung|service of the defence|2 Monate|2 months|VerfO UPC Regel 51
UPC-RoP-52|Duplik in der Nichtigkeitsklage|Rejoinder in the revocation action|Zustellung der Replik|service of the reply|1 Monat|1 month|VerfO UPC Regel 52
UPC-RoP-67|Erwiderung auf die negative Feststellungsklage|Defence to the action for a declaration of non-infringement|Zustellung der Klage|service of the statement|2 Monate|2 months|VerfO UPC Regel 67.1
UPC-RoP-126|Schadensersatz: Antrag auf Bestimmung|Application for the determination of damages|Zustellung der Endentscheidung zur Sache|service of the final decision on the merits|1 Jahr|1 year|VerfO UPC Regel 126
UPC-RoP-151|Antrag auf Kostenentscheidung|Application for a cost decision|Zustellung der Entscheidung|service of the decision|1 Monat|1 month|VerfO UPC Regel 151
UPC-RoP-221|Antrag auf Zulassung der Berufung gegen die Kostenentscheidung|Leave to appeal a cost decision|Zustellung der Kostenentscheidung|service of the cost decision|15 Tage|15 days|VerfO UPC Regel 221.1
UPC-RoP-197|Antrag auf Überprüfung der Beweissicherung|Review of an order to preserve evidence|Vollzug der Maßnahme|execution of the measure|30 Tage|30 days|VerfO UPC Regel 197.3
UPC-RoP-198|Klage zur Hauptsache nach Beweissicherung|Action on the merits after preserving evidence|im Beschluss bestimmter Tag|date set in the order|31 Kalendertage oder 20 Arbeitstage, die längere Frist|31 calendar days or 20 working days, whichever is longer|VerfO UPC Regel 198.1
UPC-RoP-213|Klage zur Hauptsache nach einstweiliger Maßnahme|Action on the merits after provisional measures|im Beschluss bestimmter Tag|date set in the order|31 Kalendertage oder 20 Arbeitstage, die längere Frist|31 calendar days or 20 working days, whichever is longer|VerfO UPC Regel 213.1
UPC-RoP-224.1a|Berufungsschrift|Statement of appeal|Zustellung der Endentscheidung|service of the final decision|2 Monate|2 months|VerfO UPC Regel 224.1(a)
UPC-RoP-224.1b|Berufungsschrift gegen Anordnungen|Statement of appeal against orders|Zustellung der Anordnung|service of the order|15 Tage|15 days|VerfO UPC Regel 224.1(b)
UPC-RoP-224.2a|Berufungsbegründung|Statement of grounds of appeal|Zustellung der Endentscheidung|service of the final decision|4 Monate|4 months|VerfO UPC Regel 224.2(a)
UPC-RoP-224.2b|Berufungsbegründung gegen Anordnungen|Grounds of appeal against orders|Zustellung der Anordnung|service of the order|15 Tage|15 days|VerfO UPC Regel 224.2(b)
UPC-RoP-235|Berufungserwiderung|Statement of response|Zustellung der Berufungsbegründung|service of the grounds of appeal|3 Monate; bei Anordnungen 15 Tage|3 months; 15 days for orders|VerfO UPC Regel 235
UPC-RoP-237|Anschlussberufung|Cross-appeal|Zustellung der Berufungsbegründung|service of the grounds of appeal|Frist der Berufungserwiderung|the period of the statement of response|VerfO UPC Regel 237
UPC-RoP-238|Erwiderung auf die Anschlussberufung|Reply to the cross-appeal|Zustellung der Anschlussberufung|service of the cross-appeal|2 Monate; bei Anordnungen 15 Tage|2 months; 15 days for orders|VerfO UPC Regel 238
UPC-RoP-245|Wiederaufnahmeantrag|Application for rehearing|Zustellung der Endentscheidung oder Kenntnis des Grundes|service of the final decision or discovery of the ground|2 Monate|2 months|VerfO UPC Regel 245.2
UPC-RoP-333|Überprüfung verfahrensleitender Anordnungen|Review of case management orders|Zustellung der Anordnung|service of the order|15 Tage|15 days|VerfO UPC Regel 333.2
UPC-RoP-353|Berichtigung von Entscheidungen|Rectification of decisions|Zustellung der Entscheidung|service of the decision|1 Monat|1 month|VerfO UPC Regel 353
UPC-RoP-356|Aufhebung einer Versäumnisentscheidung|Setting aside a default decision|Zustellung der Versäumnisentscheidung|service of the default decision|1 Monat|1 month|VerfO UPC Regel 356
EPC-99|Einspruchsfrist|Opposition period|Hinweis auf die Erteilung im Europäischen Patentblatt|mention of grant in the European Patent Bulletin|9 Monate|9 months|EPÜ Art. 99(1)
EPC-108a|Beschwerde|Notice of appeal|Zustellung der Entscheidung|notification of the decision|2 Monate|2 months|EPÜ Art. 108 Satz 1
EPC-108b|Beschwerdebegründung|Statement of grounds of appeal (EPO)|Zustellung der Entscheidung|notification of the decision|4 Monate|4 months|EPÜ Art. 108 Satz 3
EPC-112a|Antrag auf Überprüfung|Petition for review|Zustellung der Beschwerdeentscheidung|notification of the appeal decision|2 Monate|2 months|EPÜ Art. 112a(4)
EPC-87|Prioritätsfrist|Priority period|Anmeldetag der ersten Anmeldung|filing date of the first application|12 Monate|12 months|EPÜ Art. 87(1)
EPC-R71|Einverständnis mit der Erteilungsfassung|Approval of the text for grant|Mitteilung nach Regel 71(3)|communication under Rule 71(3)|4 Monate|4 months|EPÜ Regel 71(3)
EPC-R70|Prüfungsantrag|Request for examination|Hinweis auf die Veröffentlichung des Recherchenberichts|mention of publication of the search report|6 Monate|6 months|EPÜ Regel 70(1)
EPC-R135|Weiterbehandlung|Further processing|Mitteilung über die Fristversäumung oder den Rechtsverlust|communication of the missed time limit or loss of rights|2 Monate|2 months|EPÜ Regel 135(1)
EPC-R136|Wiedereinsetzung|Re-establishment of rights|Wegfall des Hindernisses|removal of the cause of non-compliance|2 Monate, höchstens 12 Monate nach der versäumten Frist|2 months, at most 12 months after the missed time limit|EPÜ Regel 136(1)
EPC-R112|Antrag auf Entscheidung über Rechtsverlust|Request for a decision on loss of rights|Mitteilung über den Rechtsverlust|communication of loss of rights|2 Monate|2 months|EPÜ Regel 112(2)
EPC-R159|Eintritt in die regionale Phase|Entry into the regional phase|Prioritätstag oder Anmeldetag|priority or filing date|31 Monate|31 months|EPÜ Regel 159(1)
EPC-R161|Änderung nach Eintritt in die regionale Phase|Amendment after entry into the regional phase|Mitteilung nach Regel 161|communication under Rule 161|6 Monate|6 months|EPÜ Regel 161
EPC-R51|Jahresgebühr mit Zuschlag|Renewal fee with surcharge|Fälligkeit der Jahresgebühr|due date of the renewal fee|6 Monate|6 months|EPÜ Regel 51(2)
UPR-R6|Antrag auf einheitliche Wirkung|Request for unitary effect|Hinweis auf die Erteilung im Europäischen Patentblatt|mention of grant in the European Patent Bulletin|1 Monat|1 month|DOEPS Regel 6(1)
PatG-59|Einspruch beim DPMA|Opposition at the DPMA|Veröffentlichung der Erteilung|publication of the grant|9 Monate|9 months|§ 59 Abs. 1 PatG
PatG-73|Beschwerde zum Bundespatentgericht|Appeal to the Federal Patent Court|Zustellung des Beschlusses|service of the decision|1 Monat|1 month|§ 73 Abs. 2 PatG
PatG-82.1|Widerspruch gegen die Nichtigkeitsklage|Opposing a nullity action|Zustellung der Klage|service of the action|1 Monat|1 month|§ 82 Abs. 1 PatG
PatG-102|Rechtsbeschwerde|Appeal on points of law (patents)|Zustellung des Beschlusses|service of the decision|1 Monat|1 month|§ 102 Abs. 1 PatG
PatG-110|Berufung im Nichtigkeitsverfahren|Appeal in nullity proceedings|Zustellung des vollständigen Urteils|service of the full judgment|1 Monat|1 month|§ 110 Abs. 3 PatG
PatG-112|Berufungsbegründung im Nichtigkeitsverfahren|Grounds of appeal in nullity proceedings|Zustellung des vollständigen Urteils|service of the full judgment|3 Monate|3 months|§ 112 Abs. 2 PatG
PatG-44|Prüfungsantrag beim DPMA|Request for examination at the DPMA|Anmeldetag|filing date|7 Jahre|7 years|§ 44 Abs. 2 PatG
PatG-123|Wiedereinsetzung beim DPMA|Re-establishment at the DPMA|Wegfall des Hindernisses|removal of the obstacle|2 Monate, höchstens 1 Jahr nach der versäumten Frist|2 months, at most 1 year after the missed time limit|§ 123 Abs. 2 PatG
ZPO-276|Verteidigungsanzeige|Notice of intention to defend|Zustellung der Klageschrift (schriftliches Vorverfahren)|service of the action (written preliminary procedure)|2 Wochen (Notfrist)|2 weeks (cannot be extended)|§ 276 Abs. 1 ZPO
ZPO-517|Berufung|Appeal (ZPO)|Zustellung des vollständigen Urteils|service of the full judgment|1 Monat (Notfrist)|1 month (cannot be extended)|§ 517 ZPO
ZPO-520|Berufungsbegründung|Grounds of appeal (ZPO)|Zustellung des vollständigen Urteils|service of the full judgment|2 Monate|2 months|§ 520 Abs. 2 ZPO
ZPO-548|Revision|Appeal on points of law (ZPO)|Zustellung des vollständigen Berufungsurteils|service of the full appeal judgment|1 Monat (Notfrist)|1 month (cannot be extended)|§ 548 ZPO
ZPO-339|Einspruch gegen ein Versäumnisurteil|Objection to a default judgment|Zustellung des Versäumnisurteils|service of the default judgment|2 Wochen (Notfrist)|2 weeks (cannot be extended)|§ 339 Abs. 1 ZPO
ZPO-569|Sofortige Beschwerde|Immediate complaint|Zustellung der Entscheidung|service of the decision|2 Wochen (Notfrist)|2 weeks (cannot be extended)|§ 569 Abs. 1 ZPO
ZPO-929|Vollziehung einer einstweiligen Verfügung|Enforcement of a preliminary injunction|Verkündung oder Zustellung an den Gläubiger|pronouncement, or service on the creditor|1 Monat|1 month|§§ 929 Abs. 2, 936 ZPO
""")
